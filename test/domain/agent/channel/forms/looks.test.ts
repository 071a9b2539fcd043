/** How Markdown looks in each channel. */
import { expect, test } from 'bun:test'
import { devForm } from '#domain/agent/channel/forms/dev'
import { mailBody } from '#domain/agent/channel/forms/mail'
import { slackForm } from '#domain/agent/channel/forms/slack'
import { smsForm } from '#domain/agent/channel/forms/sms'
import { whatsappForm } from '#domain/agent/channel/forms/whatsapp'

interface Look {
  what: string
  markdown: string
  slack: string
  whatsapp: string
  sms: string
  text: string
  html: string
}

const looks: Look[] = [
  {
    what: 'emphasis',
    markdown: 'a **b** *c* ~~d~~ `e` ***f***',
    slack: 'a *b* _c_ ~d~ `e` *_f_*',
    whatsapp: 'a *b* _c_ ~d~ `e` *_f_*',
    sms: 'a b c d e f',
    text: 'a b c d e f',
    html: '<div><p>a <strong>b</strong> <em>c</em> <s>d</s> <code>e</code> <strong><em>f</em></strong></p></div>',
  },
  {
    what: 'emphasis within a word',
    markdown: 'un**believ**able',
    slack: 'un\u200b*believ*\u200bable',
    whatsapp: 'un\u200b*believ*\u200bable',
    sms: 'unbelievable',
    text: 'unbelievable',
    html: '<div><p>un<strong>believ</strong>able</p></div>',
  },
  {
    what: 'signs that are no markup',
    markdown: 'snake_case 2 * 3 \\*x\\* a & b < c &amp; &copy;',
    slack: 'snake_case 2 * 3 *x* a &amp; b &lt; c &amp; &amp;copy;',
    whatsapp: 'snake_case 2 * 3 *x* a & b < c & &copy;',
    sms: 'snake_case 2 * 3 *x* a & b < c & &copy;',
    text: 'snake_case 2 * 3 *x* a & b < c & &copy;',
    html: '<div><p>snake_case 2 * 3 *x* a &amp; b &lt; c &amp; &amp;copy;</p></div>',
  },
  {
    what: 'headings, lines and rules',
    markdown: '# Plan *A*\none\ntwo  \nthree<br>four\n\n---\n\nend',
    slack: '*Plan* _*A*_\n\none\ntwo\nthree\nfour\n\n———\n\nend',
    whatsapp: '*Plan* _*A*_\n\none\ntwo\nthree\nfour\n\n———\n\nend',
    sms: 'Plan A\n\none\ntwo\nthree\nfour\n\n---\n\nend',
    text: 'Plan A\n\none\ntwo\nthree\nfour\n\n---\n\nend',
    html: '<div><p><strong>Plan </strong><em><strong>A</strong></em></p><p>one<br>two<br>three<br>four</p><hr><p>end</p></div>',
  },
  {
    what: 'lists',
    markdown: '- a\n  - b\n    1. c\n- [x] d\n- [ ] e\n\n3. f\n\n   g\n4. h',
    slack: '• a\n  ◦ b\n    1. c\n• ☑ d\n• ☐ e\n\n3. f\n  g\n4. h',
    whatsapp: '- a\n  - b\n    1. c\n- ☑ d\n- ☐ e\n\n3. f\n  g\n4. h',
    sms: '- a\n  - b\n    1. c\n- [x] d\n- [ ] e\n\n3. f\n  g\n4. h',
    text: '- a\n  - b\n    1. c\n- ☑ d\n- ☐ e\n\n3. f\n  g\n4. h',
    html: '<div><ul><li>a<ul><li>b<ol start="1"><li>c</li></ol></li></ul></li><li>☑ d</li><li>☐ e</li></ul><ol start="3"><li><p>f</p><p>g</p></li><li><p>h</p></li></ol></div>',
  },
  {
    what: 'quotations',
    markdown: '> a **b**\n> c',
    slack: '> a *b*\n> c',
    whatsapp: '> a *b*\n> c',
    sms: '> a b\n> c',
    text: '> a b\n> c',
    html: '<div><blockquote style="margin:0 0 0 4px;padding-left:12px;border-left:3px solid #ccc"><p>a <strong>b</strong><br>c</p></blockquote></div>',
  },
  {
    what: 'links and images',
    markdown:
      '[a](https://x.example/?b=1&c=2 "d") https://y.example ![e](https://z.example/f.png) ![](https://z.example/g.png)',
    slack:
      '<https://x.example/?b=1&amp;c=2|a> (d) <https://y.example> <https://z.example/f.png|e> <https://z.example/g.png>',
    whatsapp:
      'a (https://x.example/?b=1&c=2) (d) https://y.example e (https://z.example/f.png) https://z.example/g.png',
    sms: 'a (https://x.example/?b=1&c=2) (d) https://y.example e (https://z.example/f.png) https://z.example/g.png',
    text: 'a <https://x.example/?b=1&c=2> (d) https://y.example e <https://z.example/f.png> https://z.example/g.png',
    html: '<div><p><a href="https://x.example/?b=1&amp;c=2">a</a> (d) <a href="https://y.example">https://y.example</a> <a href="https://z.example/f.png">e</a> <a href="https://z.example/g.png">https://z.example/g.png</a></p></div>',
  },
  {
    what: 'code',
    markdown: '```js\nif (a < b) {\n  c(`d`)\n}\n```',
    slack: '```\nif (a &lt; b) {\n  c(`d`)\n}\n```',
    whatsapp: '```\nif (a < b) {\n  c(`d`)\n}\n```',
    sms: "if (a < b) {\n  c('d')\n}",
    text: '    if (a < b) {\n      c(`d`)\n    }',
    html: '<div><pre style="background:#f4f4f4;padding:8px;white-space:pre-wrap"><code>if (a &lt; b) {\n  c(`d`)\n}</code></pre></div>',
  },
  {
    what: 'a table of few columns',
    markdown: '| A | B |\n|---|---|\n| 1 | **2** |\n| 3 | |',
    slack: '*A* · *B*\n• 1 · *2*\n• 3 · –',
    whatsapp: '*A* · *B*\n- 1 · *2*\n- 3 · –',
    sms: 'A - B\n- 1 - 2\n- 3 - -',
    text: 'A · B\n- 1 · 2\n- 3 · –',
    html: tableOf([
      ['A', 'B'],
      ['1', '<strong>2</strong>'],
      ['3', ''],
    ]),
  },
  {
    what: 'a table of many columns',
    markdown: '| A | B | C | D |\n|---|---|---|---|\n| 1 | 2 | 3 | 4 |',
    slack: '• A: 1 · B: 2 · C: 3 · D: 4',
    whatsapp: '- A: 1 · B: 2 · C: 3 · D: 4',
    sms: '- A: 1 - B: 2 - C: 3 - D: 4',
    text: '- A: 1 · B: 2 · C: 3 · D: 4',
    html: tableOf([
      ['A', 'B', 'C', 'D'],
      ['1', '2', '3', '4'],
    ]),
  },
  {
    what: 'typography',
    markdown: '“So” – it’s… 5 → 6',
    slack: '“So” – it’s… 5 → 6',
    whatsapp: '“So” – it’s… 5 → 6',
    sms: '"So" - it\'s... 5 -> 6',
    text: '“So” – it’s… 5 → 6',
    html: '<div><p>“So” – it’s… 5 → 6</p></div>',
  },
]

function tableOf([head = [], ...rows]: string[][]): string {
  const row = (tag: string, cells: string[]) =>
    `<tr>${cells.map((cell) => `<${tag} style="border:1px solid #ccc;padding:4px 8px;text-align:left">${cell}</${tag}>`).join('')}</tr>`
  const body = rows.map((cells) => row('td', cells)).join('')
  return `<div><table style="border-collapse:collapse"><thead>${row('th', head)}</thead><tbody>${body}</tbody></table></div>`
}

test.each(looks)('$what', ({ markdown, slack, whatsapp, sms, text, html }) => {
  expect(slackForm(markdown)).toEqual([slack])
  expect(whatsappForm(markdown)).toEqual([whatsapp])
  expect(smsForm(markdown)).toEqual([sms])
  expect(mailBody(markdown)).toEqual({ text, html })
  expect(devForm(markdown)).toEqual([markdown])
})

const paragraph = (letter: string, length: number) =>
  `${letter.repeat(9)} `.repeat(length / 10).trim()

test('long answers are cut between paragraphs', () => {
  const [a, b, c] = [paragraph('a', 2_500), paragraph('b', 1_000), paragraph('c', 1_000)]
  expect(slackForm(`${a}\n\n${b}\n\n${c}`)).toEqual([`${a}\n\n${b}`, c])
})

test('a long paragraph is cut between sentences, and its emphasis goes on', () => {
  const sentence = `Q & A${' &'.repeat(40)} word.`
  const parts = slackForm(`**${`${sentence} `.repeat(40).trim()}**`)
  expect(parts.length).toBeGreaterThan(1)
  for (const part of parts) expect(part).toMatch(/^\*Q &amp; A .*word\.\*$/)
})

test('a long list is cut between its points', () => {
  const parts = whatsappForm(
    Array.from({ length: 300 }, (_, index) => `${index + 1}. ${paragraph('x', 50)}`).join('\n'),
  )
  expect(parts.length).toBeGreaterThan(1)
  const lines = parts.flatMap((part) => part.split('\n'))
  expect(lines).toEqual(
    Array.from({ length: 300 }, (_, index) => `${index + 1}. ${paragraph('x', 50)}`),
  )
})

test('a long table keeps its headings', () => {
  const rows = Array.from({ length: 200 }, (_, index) => `| ${index} | ${paragraph('x', 30)} |`)
  const parts = slackForm(`| Number | Text |\n|---|---|\n${rows.join('\n')}`)
  expect(parts.join('\n').match(/^• \d+ · x/gm)).toHaveLength(200)
  expect(parts.join('\n')).not.toContain('|')
})

test.each([
  ['slack', slackForm, 4_000],
  ['whatsapp', whatsappForm, 4_096],
  ['dev', devForm, 16_000],
] as const)(
  '%s: a long block of code is a block of code in each part, with its indentation',
  (_, form, limit) => {
    const code = Array.from({ length: 1_500 }, (_each, index) => `  line(${index})`).join('\n')
    const parts = form(`\`\`\`ts\n${code}\n\`\`\``)
    expect(parts.length).toBeGreaterThan(1)
    for (const part of parts) expect(part).toMatch(/^```(ts)?\n {2}line[\s\S]*\)\n```$/)
    expect(parts.every((part) => part.length <= limit)).toBe(true)
    expect(
      parts.map((part) => part.replace(/^```(ts)?\n/, '').replace(/\n```$/, '')).join('\n'),
    ).toBe(code)
  },
)

test('a message that the alphabet of GSM can write is twice as long as another', () => {
  expect(smsForm('word '.repeat(300))).toHaveLength(1)
  expect(smsForm(`${'word '.repeat(300)}漢`)).toHaveLength(2)
  expect(smsForm('漢'.repeat(671))).toHaveLength(2)
})

test('an address that is too long for a message is cut like other text', () => {
  const address = `https://example.com/${'a'.repeat(1_900)}`
  const parts = smsForm(`see ${address}`)
  expect(parts.length).toBeGreaterThan(1)
  expect(parts.join('').replaceAll(/\s/g, '')).toBe(`see${address}`)
})
