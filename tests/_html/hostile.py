"""Names that try to become markup, and what a browser's parser makes of a page."""

from html.parser import HTMLParser

HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg/onload=alert(1)>",
    "</style><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</table></div><h1>gone</h1>",
    "</td></tr><tr><td>",
    "</svg><iframe src=javascript:alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<a href='javascript:alert(1)'>x</a>",
    "<body onload=alert(1)>",
    "<base href=//example.com>",
    "<meta http-equiv=refresh content=0>",
    "<link rel=stylesheet href=x>",
    "<object data=x>",
    "<embed src=x>",
    "<form action=x><input name=y>",
    "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1)>",
    "<math><mtext></mtext></math>",
    "<template><b></template>",
    "<noscript><p title='</noscript><img src=x>'>",
    "<!-- <b>",
    "--><b>x</b>",
    "<![CDATA[<b>]]>",
    "<?php echo 1 ?>",
    '" onmouseover=alert(1) x="',
    "' onfocus=alert(1) autofocus='",
    'x" style="position:fixed" y="',
    "&lt;b&gt;",
    "&#60;b&#62;",
    "<b\x00>x</b>",
    "<B\n>x</B\n>",
    "{{ 7 * 7 }}",
    "{% raw %}<b>{% endraw %}",
    "\u202e<b>",
    "\uff1cb\uff1e<b>",
    "` onclick=alert(1) `",
    "<SCRIPT>alert(1)</SCRIPT>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<script/x>alert(1)</script>",
    "<script\n>alert(1)</script\n>",
    "<script src=data:text/javascript,alert(1)></script>",
    "<script type=module>alert(1)</script>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "<svg><set attributeName=href to=javascript:alert(1)>",
    "<svg><a href=javascript:alert(1)><text>x</text></a></svg>",
    "<svg><use href=data:image/svg+xml,x></use></svg>",
    "<svg><foreignObject><img src=x onerror=alert(1)></foreignObject></svg>",
    "<svg><desc><script>alert(1)</script></desc></svg>",
    "</title></svg><script>alert(1)</script>",
    "</text></a></svg><img src=x onerror=alert(1)>",
    "</desc><svg onload=alert(1)>",
    "</tspan><script>alert(1)</script>",
    "</pre><script>alert(1)</script>",
    "</section></main><script>alert(1)</script>",
    "</code></p><img src=x onerror=alert(1)>",
    "</head><body onload=alert(1)>",
    "</html><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "<textarea>",
    "<plaintext>",
    "<xmp>",
    "<select><option>",
    "<frameset onload=alert(1)>",
    "<marquee onstart=alert(1)>",
    "<input autofocus onfocus=alert(1)>",
    "<button autofocus onfocus=alert(1)>x</button>",
    "<div onpointerover=alert(1) style=position:fixed;inset:0>",
    "<a autofocus tabindex=1 onfocus=alert(1)>x</a>",
    "<img src='x' onerror='alert(1)'>",
    '<img src="x" onerror="alert(1)">',
    "<img/src=x/onerror=alert(1)>",
    "<img src=x onerror=alert`1`>",
    "<img src=x onerror=&#97;lert(1)>",
    "<img srcset=x onerror=alert(1)>",
    "<img src=x onerror\t=\talert(1)>",
    "<audio src=x onerror=alert(1)>",
    "<iframe src=data:text/html,<script>alert(1)</script>>",
    "<style>@import 'x';</style>",
    "<style>*{display:none}</style>",
    "</style><style>body{display:none}",
    "x;} * { display: none } a {",
    "expression(alert(1))",
    "width: expression(alert(1))",
    "url(javascript:alert(1))",
    "\\3c script\\3e alert(1)",
    "javascript:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:alert(1)",
    '"><script>alert(1)</script>',
    "'><script>alert(1)</script>",
    '" autofocus onfocus=alert(1) tabindex=1 "',
    '"/><svg/onload=alert(1)><a b="',
    "x' onload='alert(1)",
    'x" href="javascript:alert(1)',
    '#p0" onclick="alert(1)',
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&amp;lt;b&amp;gt;",
    "&#x3c;script&#x3e;alert(1)&#x3c;/script&#x3e;",
    "&quot; onmouseover=alert(1) &quot;",
    "&NewLine;javascript&colon;alert(1)",
    "&",
    "&nosuch;",
    "<",
    ">",
    '"',
    "'",
    "<\x00script>alert(1)</script>",
    "\x00",
    "\x1b[31mred\x1b[0m",
    "\ufeff<script>alert(1)</script>",
    "\u2028<script>alert(1)</script>\u2029",
    "\u200f\u202b<script>alert(1)</script>\u202c",
    "\u2066<img src=x onerror=alert(1)>\u2069",
    "\u200b<\u200bscript>",
    "\uff1cscript\uff1ealert(1)\uff1c/script\uff1e",
    "\u02bascript\u02ba \u2039script\u203a",
    "a\u0301\u0302\u0303\u0304\u0305\u0306" * 20,
    "\U000e003cscript\U000e003e",
    "{{7*7}}",
    "{{ rules.__class__.__mro__ }}",
    "{% include '_html/page.css' %}",
    "{# <b> #}",
    "${7*7}",
    "#{7*7}",
    "<%= 7*7 %>",
    "%s %(name)s {0} {name}",
    "--!><script>alert(1)</script>",
    "<!doctype html><script>alert(1)</script>",
    "]]><script>alert(1)</script>",
    "<?xml version='1.0'?><b/>",
]


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        # Values may hold the name itself; tags and attribute names may not.
        self.found.append((tag, [name for name, _ in attrs]))

    def handle_endtag(self, tag):
        self.found.append(("/", tag))

    def handle_comment(self, data):
        self.found.append(("comment", data))

    def handle_decl(self, decl):
        self.found.append(("declaration", decl))

    def handle_pi(self, data):
        self.found.append(("instruction", data))


def tags_of(page):
    """Tags, attribute names and comments of a page, in order."""
    parser = _Tags()
    parser.feed(page)
    parser.close()
    return parser.found
