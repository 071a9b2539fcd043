/** Texts of drafts, good and bad. */

export const ARTICLE = `Why docks are late

Every delay starts at the dock, and ends with somebody who waits. We counted them for a year, at eleven docks, and wrote down who waited for whom.

What we changed

- One board for all gates, at dock.example.com/board
- A call before we are late, not after
- Nobody waits for a signature

> They used to ring us. Now we ring them.

It took a week, and nobody asked for the old way again. #logistics`

/** What a renderer that trusts its text would run, fetch, or fall over. */
export const HOSTILE_MARKDOWN = `[click](javascript:alert(1)) ![x](https://a.example.com/p.png) <script>alert(1)</script>

${'> '.repeat(1_000)}deep

\u202Edcba\u202C a\u200Bb ${'x'.repeat(10_000)}`

/** Markup, marks that turn the text around, and a word wider than a screen. */
export const HOSTILE = `<img src=x onerror=alert(1)> \u202Edcba\u202C a\u200Bb ${'x'.repeat(10_000)}`
