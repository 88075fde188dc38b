"""What pandas has beside frames, pieces of Arrow, and polars, as their serializer wrote them.

``frames.WORDS`` and ``frames.PIECES``; behind these a frame and a series of polars.
"""

from __future__ import annotations

import zlib
from base64 import b85decode

#: Extension type 30.
PANDAS = zlib.decompress(
    b85decode(
        "c-rlhF-#L-"
        "6vw~sC~%MxE4GB8UL+<qI!H{=R70d1jll?EU?3q32mM+O+G}%n#Wpb!Hxn1Rwnn0ZRocp6!sc3A%y)^w#D&2{cNa$Eg5P)"
        "d9WB>3FfcgylDl{J`rh|m?*HpsH~0&_yaB%pxuPV8QMzKl9U)g%HARx6YB`w^6(#YoX26eL{WIL!Czb>NcmTCt;09fw6Y%"
        "7T7<7?$K;C$Acd<JOlgn$?cuA}abemZob_VoP?`OHxy2!O6#!^V7F_#&qeP6P3sJX!a>+Cj91060fNZfN^TQ7Ncn^Vx)9<"
        "Z5vK;1e(dz*6j8x6lf$2pDG&3qs8_Pl=PhnNpAKg|49N1w#}5?avIxTr3pFcV`z)KD~`WHc#`)Fe`*L|BqFq>yi=CPhU>r"
        "c_ov{a)1Xz%8QaS0P`Dp%oNU^+LL$8*tf{yO1{ETuZ(0QN2U|y58rG(3?A^-"
        "h&R$IrQe*)ImqSIPd)ap$fiu@aMv3`}5l#XHhXQDg^^;T(w%!@hOtQ0ay$?lCIELtvOOz$9_RCGe-"
        "0;kAGX|96aEVkSkg26vt)l+Q{L)(Al@K$2{xmt5Z=*X0*kGT&3_B@R^W%Z=-"
        "0{!TtJd23%@bCI8VnIkYnAX0&Sfx{xiJ3jq&NiNWj0ukKf!_8F_2fzgTJY)YLo#rbeIr6iJQ_%>2vl8i42*^;$K3KJF~Gl"
        "z#+Z6G8{WVhE%6VX=s&oRsIjgh(tBf3rQ9?J!xhTM%9ifH(z@S<cbH0&b<yaQKAhB-~*F34gdW{d-"
        "6I$jhh2D~rmMH4myj#1Wv^qZ}oENh&HG17`P$`Vg1cqU~C)U|th4E6@wus7O*J+1{atS_6jnKjtP1K?yV_+%p`OIjgb!_x"
        "!Vf{ZWM<+O+k{rSXG;@*7w;V1qOan-"
        "_|qgEbv3;CiV%28BMU=K&2%xz9npfxd`#J)57HgC76AHCa`HTT?kK{u1bD5i;4vdun8jt6IDl8pNZ=Tj!<JKPLGy`P{w&Q"
        "K;hPm!XF8txR<-c5?ryTaPr$y<K`APu|8"
    )
)

#: Types 31 and 32.
PIECES = zlib.decompress(
    b85decode(
        "c-qxfPfOfD6n`%p*C3(f5K0b(&7n}ii}cbx2nxNGeu?Q4*+o|*yB59mxR+jX+7F<m-uwtcE183>3tq%e;-"
        "%F0W+yt#CK#oneM@HM&7Zfw`Mp0gmiV@n9efhQPFLcaFgwBcFUc+d1i-"
        "QYJ~UwtJQ|UpOFEF|QS0iKrs)gSnULn1Ft2t6+6Fq@ztVd_?-$CBPv5+<!_#Zj@c)mrJr*BcY6QNr3Jn(`b+(WN(tU-"
        "7F|KIr2)E)uwRpxDt#e@LjEnnU7)$&>tcf%gdlFZfwKlJQc?8yCgS94opT*`*GAL&b?!jJk2YXHhduXv1SZj{8&+cJ{&9="
        "nzR`#va-Pzh0NX(he<NuA$rwGR9gv*(6>#@Z5<kmq)Y>HIkJ9g_bFK_=_x6awM#dNEyep6WE8gvB}bbTzLt5Jh4uO#}*=q"
        "u)TXJ}l`$BM;n(ii#HF#9=r%KGdX*iJ|J?^d=y+}lp_69T4k_UHk?xSuGa=!Zs*^4emBL+j=^_q}1#hl<OXWS>&VUdGwMd"
        "Mf&f#50aq$&26bc_~hYH9fwVUMvc9%{3VwK)nmqeL0KEOzwzuw%5LiyBDMf8of^%0B7jyl6Sz4TDQi#5LssmJ+_L6{chOB"
        "=uZU(Gi!=-KMu>@87Xlorc_GOUPA9oi`^SNLP2Vjxq6HC@!qBe`P}OFRIXNU>58rad)VF6"
    )
)
