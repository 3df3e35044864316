"""The keys and tokens of vendors: (text to search first, pattern, kind), in the formats that the vendors document.

A pattern covers the token alone; `memory.text.secrets` checks its surroundings. No word of a language has such a form,
so the context does not matter."""

from typing import Literal

SecretKind = Literal[
    "password", "pin", "api-key", "token", "private-key", "card-number", "account-number", "recovery-code"
]

_HEX, _WORD, _URLSAFE = "[0-9a-f]", "[A-Za-z0-9]", "[A-Za-z0-9_-]"

VENDOR_TOKENS: tuple[tuple[str, str, SecretKind], ...] = (
    ("AKIA", r"AKIA[A-Z0-9]{16}", "api-key"),  # Amazon
    ("ASIA", r"ASIA[A-Z0-9]{16}", "api-key"),
    ("gh", rf"gh[pousr]_{_WORD}{{36,255}}", "token"),  # GitHub
    ("github_pat_", r"github_pat_\w{22,255}", "token"),
    ("glpat-", rf"glpat-{_URLSAFE}{{20,}}", "token"),  # GitLab
    ("gldt-", rf"gldt-{_URLSAFE}{{20,}}", "token"),
    ("glrt-", rf"glrt-{_URLSAFE}{{20,}}", "token"),
    ("sk-", rf"sk-(?:[a-z0-9]{{2,12}}-){{0,3}}{_URLSAFE}{{20,}}", "api-key"),  # OpenAI, Anthropic, OpenRouter, DeepSeek
    ("gsk_", rf"gsk_{_WORD}{{40,}}", "api-key"),  # Groq
    ("xai-", rf"xai-{_WORD}{{40,}}", "api-key"),
    ("pplx-", rf"pplx-{_WORD}{{40,}}", "api-key"),
    ("hf_", rf"hf_{_WORD}{{30,}}", "token"),  # Hugging Face
    ("r8_", rf"r8_{_WORD}{{30,}}", "token"),  # Replicate
    ("AIza", rf"AIza{_URLSAFE}{{35}}", "api-key"),  # Google
    ("GOCSPX-", rf"GOCSPX-{_URLSAFE}{{20,}}", "api-key"),
    ("ya29.", rf"ya29\.{_URLSAFE}{{20,}}", "token"),
    ("xox", rf"xox[abeoprs](?:\.xox[bp])?-{_URLSAFE}{{10,}}", "token"),  # Slack
    ("xapp-", rf"xapp-\d-{_URLSAFE}{{20,}}", "token"),
    ("hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/]{20,}", "token"),
    ("discord", r"discord(?:app)?\.com/api/webhooks/\d{15,}/[\w-]{40,}", "token"),
    (".", rf"[MNO]{_URLSAFE}{{22,27}}\.{_URLSAFE}{{6}}\.{_URLSAFE}{{27,40}}", "token"),  # a bot of Discord
    (":AA", rf"\d{{8,10}}:AA{_URLSAFE}{{32,34}}", "token"),  # a bot of Telegram
    ("_live_", rf"[rs]k_live_{_WORD}{{16,}}", "api-key"),  # Stripe
    ("_test_", rf"[rs]k_test_{_WORD}{{16,}}", "api-key"),
    ("whsec_", r"whsec_[A-Za-z0-9+/=]{24,}", "api-key"),
    ("sq0", rf"sq0(?:atp|csp|idp)-{_URLSAFE}{{22,}}", "token"),  # Square
    ("EAAA", rf"EAAA{_URLSAFE}{{56,}}", "token"),
    ("shp", rf"shp(?:at|ca|pa|ss)_{_HEX}{{32}}", "token"),  # Shopify
    ("access_token$", rf"access_token\$(?:production|sandbox)\${_WORD}{{16}}\${_HEX}{{32}}", "token"),  # PayPal
    ("npm_", rf"npm_{_WORD}{{36}}", "token"),
    ("pypi-", rf"pypi-{_URLSAFE}{{50,}}", "token"),
    ("rubygems_", rf"rubygems_{_HEX}{{48}}", "token"),
    ("dckr_", rf"dckr_(?:pat|oat)_{_URLSAFE}{{20,}}", "token"),  # Docker
    ("SG.", rf"SG\.{_URLSAFE}{{16,}}\.{_URLSAFE}{{30,}}", "api-key"),  # SendGrid
    ("SK", rf"SK{_HEX}{{32}}", "api-key"),  # Twilio
    ("key-", rf"key-{_HEX}{{32}}", "api-key"),  # Mailgun
    ("-us", rf"{_HEX}{{32}}-us\d{{1,2}}", "api-key"),  # Mailchimp
    ("_v1_", rf"do[oprt]_v1_{_HEX}{{64}}", "token"),  # DigitalOcean
    ("HRKU-", rf"HRKU-{_URLSAFE}{{30,}}", "api-key"),  # Heroku
    ("dapi", rf"dapi{_HEX}{{32}}", "token"),  # Databricks
    ("lin_", rf"lin_(?:api|oauth)_{_WORD}{{32,}}", "api-key"),  # Linear
    ("ntn_", rf"ntn_{_WORD}{{40,}}", "token"),  # Notion
    ("secret_", rf"secret_{_WORD}{{43}}", "token"),
    ("figd_", rf"figd_{_URLSAFE}{{30,}}", "token"),  # Figma
    ("PMAK-", rf"PMAK-{_HEX}{{24}}-{_HEX}{{34}}", "api-key"),  # Postman
    ("glsa_", rf"glsa_{_WORD}{{32}}_{_HEX}{{8}}", "token"),  # Grafana
    ("ATATT3", rf"ATATT3{_URLSAFE}{{50,}}=?[0-9A-F]{{0,8}}", "token"),  # Atlassian
    ("hvs.", rf"hvs\.{_URLSAFE}{{24,}}", "token"),  # Vault
    (".atlasv1.", rf"{_WORD}{{14}}\.atlasv1\.{_URLSAFE}{{60,}}", "token"),  # Terraform
    ("sntry", rf"sntry[su]_{_URLSAFE}{{30,}}=?", "token"),  # Sentry
    ("NRAK-", r"NRAK-[A-Z0-9]{27}", "api-key"),  # New Relic
    ("tskey-", rf"tskey-[a-z]+-{_URLSAFE}{{16,}}", "api-key"),  # Tailscale
    ("sbp_", rf"sbp_{_HEX}{{40}}", "token"),  # Supabase
    ("nfp_", rf"nfp_{_WORD}{{36,}}", "token"),  # Netlify
    ("dp.", rf"dp\.(?:pt|st|ct|sa)\.{_WORD}{{40,}}", "token"),  # Doppler
    ("pk.eyJ", rf"[sp]k\.eyJ{_URLSAFE}{{20,}}\.{_URLSAFE}{{20,}}", "token"),  # Mapbox
    ("sk.eyJ", rf"sk\.eyJ{_URLSAFE}{{20,}}\.{_URLSAFE}{{20,}}", "token"),
    ("eyJ", r"eyJ[\w-]{8,}(?:\.[\w-]*){2,4}", "token"),  # a JSON Web Token, signed or encrypted
    ("AccountKey=", r"AccountKey=[A-Za-z0-9+/]{40,}={0,2}", "api-key"),  # Azure
    ("SharedAccessKey=", r"SharedAccessKey=[A-Za-z0-9+/]{40,}={0,2}", "api-key"),
    ("AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}", "private-key"),
    ("prv", r"[xyz]prv[1-9A-HJ-NP-Za-km-z]{100,112}", "private-key"),  # a wallet's
)
