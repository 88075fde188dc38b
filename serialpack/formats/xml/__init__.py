"""XML: documents of any kind, and typed XML, which has values of any kind.

Enter at ``xml`` and ``typed``, which declare the two and say what their elements are; ``root``
tells them apart. ``read`` makes values of documents and ``write`` documents of values;
``typed_read`` and ``typed_write`` do so for typed XML; ``content`` has what stands in an element as
one value. None follows a reference to an entity, or to anything outside.

- element: of a document, a key and its value; of typed XML, one value, with its type as its name
- run: text between two tags
"""
