/** The style sheet, inlined in every page and allowed by its hash. */
import { createHash } from 'node:crypto'

export const style = `
:root { color-scheme: light dark; --ink: #1a1f1c; --soft: #4a544e; --paper: #fbfcfa; --card: #fff; --line: #78837c; --go: #14633c; --on-go: #fff; --bad: #a3201d; --note: #fff4d6 }
@media (prefers-color-scheme: dark) { :root { --ink: #eef2ef; --soft: #b9c4bd; --paper: #131815; --card: #1c231f; --line: #7f8c84; --go: #8fdcb2; --on-go: #0b2417; --bad: #ffb0a8; --note: #3a3115 } }
* { box-sizing: border-box }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
header, main, footer { max-width: 36rem; margin: 0 auto; padding: 1rem }
header { font-weight: 600 }
header a { color: inherit }
h1 { font-size: 1.6rem; line-height: 1.2; margin: .5rem 0 1rem }
h2 { font-size: 1.15rem; margin: 1.5rem 0 .5rem }
a { color: var(--go) }
label, legend { display: block; font-weight: 600; margin-top: 1rem }
.hint { color: var(--soft); margin: 0 }
form + .hint { margin-top: 1rem }
input, select, textarea { width: 100%; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: .3rem; padding: .6rem; margin-top: .25rem }
[aria-invalid] { border: 2px solid var(--bad) }
.wrong { color: var(--bad); font-weight: 600; margin: .25rem 0 0 }
button { font: inherit; font-weight: 600; min-height: 2.75rem; padding: .5rem 1.25rem; margin: 1.25rem .75rem 0 0; border: 2px solid var(--go); border-radius: .3rem; background: var(--go); color: var(--on-go); cursor: pointer }
button.plain { background: transparent; color: var(--ink); border-color: var(--line) }
:focus-visible { outline: 3px solid #2f7de1; outline-offset: 2px }
.errors { border: 3px solid var(--bad); padding: 0 1rem 1rem; margin-bottom: 1rem }
.errors a { color: var(--bad) }
.note { background: var(--note); padding: .75rem 1rem; border-radius: .3rem }
.text { white-space: pre-wrap; border-left: 3px solid var(--line); padding-left: .75rem }
mark { background: var(--bad); color: var(--card); font: .85em ui-monospace, monospace; unicode-bidi: isolate; padding: 0 .15rem; border-radius: .2rem }
ins { background: var(--note) }
del { color: var(--bad) }
textarea { font-family: ui-monospace, monospace; resize: vertical }
.code { font: 700 2rem/1.3 ui-monospace, monospace; letter-spacing: .08em; margin: .25rem 0 1rem }
dt { color: var(--soft); margin-top: .75rem }
dd { margin: 0; font-weight: 600 }
dd ul { margin: 0; padding-left: 1.25rem }
footer { color: var(--soft); border-top: 1px solid var(--line); margin-top: 2rem }
`

/** The hash as a source in a content security policy. */
export const styleSource = `'sha256-${createHash('sha256').update(style).digest('base64')}'`
