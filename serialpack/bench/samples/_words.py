"""The words that entries of the phone book are made of.

A pair of lists is heads and tails, of which names are put together: no two pairs make the same
name, so that the entropy of what was drawn can be counted.
"""

from __future__ import annotations


def _words(text: str) -> list[str]:
    return text.split()


#: The words of the passage that begins "Lorem ipsum dolor sit amet".
LOREM = _words("""
    ad adipisicing aliqua aliquip amet anim aute cillum commodo consectetur consequat culpa
    cupidatat deserunt do dolor dolore duis ea eiusmod elit enim esse est et eu ex excepteur
    exercitation fugiat id in incididunt ipsum irure labore laboris laborum lorem magna minim mollit
    nisi non nostrud nulla occaecat officia pariatur proident qui quis reprehenderit sint sit sunt
    tempor ullamco ut velit veniam voluptate
""")

FIRST_NAMES = {
    "female": _words("""
        Ada Agnes Alice Amelia Anna Bella Bertha Camille Carla Clara Dana Diana Edith Elena Elsa
        Emma Erica Esther Eva Faye Fiona Flora Gina Grace Greta Hanna Hazel Helen Ida Ines Irene
        Iris Ivy Jane Joan Judith Julia Karen Kate Laura Lena Lily Lucy Mabel Mara Maria Martha
        Maud Mia Nadia Nina Nora Olga Paula Petra Rita Rosa Ruth Sara Sofia Tess Tina Vera Wanda
    """),
    "male": _words("""
        Abel Adam Alan Albert Alec Andre Anton Arno Basil Ben Boris Bruno Carl Cecil Clive Conrad
        Cyril Dan David Dirk Edgar Egon Emil Eric Ernest Felix Frank Fred George Gerd Glen Guy
        Hans Harry Henry Hugo Ian Igor Ivan Jack Jacob James Joel John Karl Kurt Leo Louis Luke
        Marc Martin Max Miles Neil Nick Oscar Otto Paul Peter Ralph Robert Simon Theo Victor
    """),
}

SURNAMES = (
    _words("""
        Ash Black Brad Brook Bur Cald Carl Chad Clay Dal Dun Fair Far Gar Hal Hart Hol Kings Lang
        Mar Mel Mor New Nor Red Rose Shel Stan Thorn Wal West Whit
    """),
    _words("bury by combe dale don field ford gate ham ley man more ridge shaw tree wood"),
)

COMPANIES = (
    _words("""
        Accu Aero Aqua Bio Cine Combo Comto Digi Eco Ener Ever Exo Fusi Geo Hydro Iso Key Luma Magni
        Medi Nano Omni Opti Poly Quanti Roto Sono Stra Tele Vita Xeno Zentri
    """),
    _words("cade core dex fy gen lane line loc max mix net plex quil tron verse zoid"),
)

CITIES = (
    _words("""
        Alder Barn Bell Brant Cedar Chester Clear Cross Dover Elk Elm Fern Fox Glen Green Haven
        Hills Iron Juniper Lake Lynn Maple Mill North Oak Pine River Rock Spring Stone Walnut Win
    """),
    _words("boro burg dale mont port ton view ville"),
)

STREETS = (
    _words("""
        Adams Beacon Bedford Canal Cedar Central Clark Clinton Court Dean Division Fulton Garden
        Grand Grove Harbor High Hudson Jay King Lake Main Market Mill Monroe Park Pearl Prince
        Spencer Union Water Willow
    """),
    _words("Avenue Court Lane Place Road Square Street Terrace"),
)

STATES = _words("""
    Alabama Alaska Arizona Arkansas California Colorado Connecticut Delaware Florida Georgia Hawaii
    Idaho Illinois Indiana Iowa Kansas Kentucky Louisiana Maine Maryland Massachusetts Michigan
    Minnesota Mississippi Missouri Montana Nebraska Nevada Ohio Oklahoma Oregon Pennsylvania
    Tennessee Texas Utah Vermont Virginia Washington Wisconsin Wyoming
""")

EYES = ("blue", "brown", "green")
FRUITS = ("apple", "banana", "strawberry")
