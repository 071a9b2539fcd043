/** What the agent's text can never do to its readers, whoever put the words into its mouth. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { Parser } from 'htmlparser2'
import { mailBody, mailForm } from '#domain/agent/channel/forms/mail'
import { slackForm } from '#domain/agent/channel/forms/slack'
import { smsForm } from '#domain/agent/channel/forms/sms'
import { whatsappForm } from '#domain/agent/channel/forms/whatsapp'
import { runs } from '../../../../support/property.ts'
import { hostile, knownDocument, mixture } from '../../../../support/texts/markdown.ts'

const anyMarkdown = fc.oneof(
  mixture,
  knownDocument(10).map(({ markdown }) => markdown),
)

/** The one thing of ours that `<` begins, by Slack's documentation. */
const LINK = /<(?:https?:\/\/|mailto:|tel:)[^<>|\s]+(?:\|[^<>|\n]*(?:\|[^<>\n]*)?)?>/g
const QUOTE = /^> /gm

const withoutLinks = (part: string): string => part.replaceAll(LINK, '').replaceAll(QUOTE, '')

test('Slack: nothing but links and quotations is written with < or >', () => {
  fc.assert(
    fc.property(anyMarkdown, (markdown) => {
      for (const part of slackForm(markdown)) expect(withoutLinks(part)).not.toMatch(/[<>]/)
    }),
    runs(250),
  )
})

test.each([
  ['everybody of a channel', '<!channel>'],
  ['everybody who is there', '<!here>'],
  ['everybody', '<!everyone|everyone>'],
  ['a person', '<@U012AB3CD>'],
  ['a group', '<!subteam^S012>'],
  ['a channel', '<#C012|general>'],
  ['a time', '<!date^1392734382^{date}|x>'],
  ['a person in code', '`<@U012AB3CD>`'],
  ['a person in a block of code', '```\n<@U012AB3CD>\n```'],
  ['a person after entities', '&lt;@U012AB3CD&gt;'],
  ['a person by numbered entities', '&#60;@U012AB3CD&#x3e;'],
  ['a person as the words of a link', '[<@U012AB3CD>](https://example.com)'],
  ['a person as the address of a link', '[x](<@U012AB3CD>)'],
  ['a person after an address', '[x](https://example.com/|x><@U012AB3CD>)'],
  ['a person as a title', '[x](https://example.com "><@U012AB3CD>")'],
  ['a person in an address as it is', 'https://example.com/<@U012AB3CD>'],
  ['a person in a heading', '# <@U012AB3CD>'],
  ['a person in a table', '| a |\n|---|\n| <@U012AB3CD> |'],
  ['a person in an image', '![<@U012AB3CD>](https://example.com/a.png)'],
  ['a person who is cut in two', `${'a '.repeat(1_998)}<@U012AB3CD>`],
])('Slack: the agent cannot notify %s', (_, markdown) => {
  expect(slackForm(markdown).map(withoutLinks).join('')).not.toMatch(/[<>]/)
})

const TAGS = [
  'div',
  'p',
  'br',
  'strong',
  'em',
  's',
  'code',
  'pre',
  'ul',
  'ol',
  'li',
  'blockquote',
  'hr',
  'a',
  'table',
  'thead',
  'tbody',
  'tr',
  'th',
  'td',
]
const STYLES = /^[a-z0-9#:;\- ]+$/

interface Html {
  tags: [name: string, attributes: Record<string, string>][]
  text: string
}

const readHtml = (html: string): Html => {
  const found: Html = { tags: [], text: '' }
  const parser = new Parser({
    onopentag: (name, attributes) => void found.tags.push([name, attributes]),
    ontext: (text) => {
      found.text += text
    },
    oncomment: () => void found.tags.push(['comment', {}]),
    onprocessinginstruction: () => void found.tags.push(['instruction', {}]),
  })
  parser.end(html)
  return found
}

const isHarmless = ([name, { href, style, start, ...others }]: Html['tags'][number]): boolean =>
  TAGS.includes(name) &&
  Object.keys(others).length === 0 &&
  (name === 'a' ? /^(https?:\/\/|mailto:|tel:)/.test(href ?? '') : href === undefined) &&
  (style === undefined || (STYLES.test(style) && !style.includes('url'))) &&
  (start === undefined || /^\d{1,9}$/.test(start))

const harmfulIn = (parts: string[]) =>
  parts.flatMap((part) => readHtml(mailBody(part).html).tags.filter((tag) => !isHarmless(tag)))
const harmful = (markdown: string) => harmfulIn(mailForm(markdown))

test('mail: no tag, attribute, style or address but the harmless ones, whatever the Markdown has', () => {
  fc.assert(
    fc.property(anyMarkdown, (markdown) => {
      expect(harmful(markdown)).toEqual([])
    }),
    runs(200),
  )
})

test.each([
  ['an image', '![a](https://example.com/a.png?d=secret)'],
  ['an image of HTML', '<img src="https://example.com/a.png">'],
  ['an image in a link', '[![a](https://example.com/a.png)](https://example.com)'],
  ['a style', '<style>@import url(https://example.com)</style>'],
  ['a script', '<script>alert(1)</script>'],
  ['a frame', '<iframe src="https://example.com"></iframe>'],
  ['a form', '<form action="https://example.com"><input name=a></form>'],
  ['a comment', '<!-- a -->'],
  ['a tag on several lines', '<img\nsrc=x\nonerror=alert(1)>'],
  ['a link that runs', '[a](javascript:alert(1))'],
  ['a link that runs, in disguise', '[a](JaVaScRiPt:alert(1))'],
  ['a link with data', '[a](data:text/html,<script>alert(1)</script>)'],
  ['an address that ends its attribute', '[a](https://example.com/"onmouseover="alert(1))'],
  ['a title that ends its attribute', `[a](https://example.com '"onmouseover="alert(1)')`],
  ['words that end their tag', '**</strong><script>alert(1)</script>**'],
  ['code that ends its tag', '`</code><script>alert(1)</script>`'],
  ['a language that ends its tag', '```"><script>alert(1)</script>\nx\n```'],
  ['a table', '| <script>x</script> |\n|---|\n| <img src=x> |'],
])('mail: %s loads and runs nothing, and is readable', (_, markdown) => {
  expect(harmful(markdown)).toEqual([])
  const { text } = readHtml(mailBody(markdown).html)
  for (const word of markdown.match(/alert|secret|script|import|iframe|onerror|input/g) ?? []) {
    const shown =
      text +
      readHtml(mailBody(markdown).html)
        .tags.map(([, { href = '' }]) => href)
        .join(' ')
    expect(shown).toContain(word)
  }
})

test.each(Object.entries(hostile))(
  'mail: a hundred thousand characters of %s are harmless',
  (_, make) => {
    const parts = mailForm(make(100_000))
    expect(harmfulIn(parts)).toEqual([])
    expect(parts.length).toBeGreaterThan(0)
    for (const part of parts)
      expect([part.length > 0, part.length <= 100_000, part.isWellFormed()]).toEqual([
        true,
        true,
        true,
      ])
  },
)

test('mail: the words of a document are in its HTML, in order', () => {
  fc.assert(
    fc.property(knownDocument(20), ({ markdown, words }) => {
      const { text } = readHtml(
        mailForm(markdown)
          .map((part) => mailBody(part).html)
          .join(''),
      )
      let at = 0
      for (const word of words) {
        at = text.indexOf(word, at)
        expect(at).toBeGreaterThanOrEqual(0)
      }
    }),
    runs(75),
  )
})

test.each([
  ['the host of another', '[https://bank.com/login](https://evil.example/a)', true],
  ['a bare host', '[bank.com](https://evil.example/a)', true],
  ['a host in look-alike letters', '[bаnk.com](https://evil.example/a)', true],
  ['words before a host', '[sign in at bank.com](https://evil.example/a)', true],
  ['so many words that nobody reads them', `[${'word '.repeat(60)}](https://evil.example/a)`, true],
  ['words', '[your bank](https://evil.example/a)', false],
  ['its own address', '[https://evil.example/a](https://evil.example/a)', false],
])(
  'a link whose words are %s shows its address where clients hide it: %p',
  (_, markdown, shows) => {
    const [slack] = slackForm(markdown)
    expect(slack!.endsWith(' (<https://evil.example/a>)')).toBe(shows)
    expect(
      mailBody(markdown).html.includes(
        ' (<a href="https://evil.example/a">https://evil.example/a</a>)',
      ),
    ).toBe(shows)
  },
)

test.each([
  ['with a name and password', 'https://bank.com:x@evil.example/'],
  ['of a file', 'file:///etc/passwd'],
  ['of another program', 'slack://open?team=T1'],
  ['without a scheme', '/approvals/1'],
  ['longer than 2,000 characters', `https://example.com/${'a'.repeat(2_000)}`],
])('an address %s is text', (_, href) => {
  const markdown = `[the words](${href})`
  for (const part of [...slackForm(markdown), mailBody(markdown).html]) {
    expect(part).toContain(`the words (${href}`.slice(0, 60))
    expect(part).not.toMatch(/<a |<http|<file|<slack/)
  }
})

test('an address in letters of other scripts is shown in the form that is called', () => {
  expect(slackForm('[see](https://аррӏе.com/)')).toEqual(['<https://xn--80ak6aa92e.com/|see>'])
})

test('channels without links show each address', () => {
  for (const form of [whatsappForm, smsForm])
    expect(
      form('[bank.com](https://evil.example/a), https://a.example/b, mail a@b.example'),
    ).toEqual(['bank.com (https://evil.example/a), https://a.example/b, mail a@b.example'])
})
