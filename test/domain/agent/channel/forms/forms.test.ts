/**
 * What a text in Markdown becomes in each channel: nothing of it is lost, and no part is longer
 * than the channel takes.
 */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { devForm } from '#domain/agent/channel/forms/dev'
import { mailBody, mailForm } from '#domain/agent/channel/forms/mail'
import { slackForm } from '#domain/agent/channel/forms/slack'
import { smsForm } from '#domain/agent/channel/forms/sms'
import { whatsappForm } from '#domain/agent/channel/forms/whatsapp'
import { runs } from '../../../../support/property.ts'
import { hostile, knownDocument, mixture } from '../../../../support/texts/markdown.ts'

/** Written from GSM 03.38, not from the code. */
const GSM =
  /^[\n\r !"#$%&'()*+,\-./0-9:;<=>?@A-Z_a-z¡£¤¥§¿ÄÅÆÇÉÑÖØÜßàäåæèéìñòöøùüΓΔΘΛΞΠΣΦΨΩ^{}\\[~\]|€\f]*$/
const segments = (text: string): number =>
  GSM.test(text)
    ? Math.ceil((text.length + (text.match(/[\^{}\\[~\]|€\f]/g)?.length ?? 0)) / 153)
    : Math.ceil(text.length / 67)

interface Form {
  name: string
  form(markdown: string): string[]
  isWithin(part: string): boolean
}

const forms: Form[] = [
  { name: 'slack', form: slackForm, isWithin: (part) => part.length <= 4_000 },
  { name: 'whatsapp', form: whatsappForm, isWithin: (part) => part.length <= 4_096 },
  { name: 'sms', form: smsForm, isWithin: (part) => segments(part) <= 10 },
  { name: 'dev', form: devForm, isWithin: (part) => part.length <= 16_000 },
  { name: 'mail', form: mailForm, isWithin: (part) => part.length <= 100_000 },
  {
    name: 'the text of a mail',
    form: (markdown) => mailForm(markdown).map((part) => mailBody(part).text),
    isWithin: () => true,
  },
]

/** As people read it: what only carries markup is left out. */
const readable = (parts: string[]): string => parts.join('\n').replaceAll('\u200b', '')

const placesOf = (all: string, words: string[]): number[] => {
  let at = 0
  return words.map((word) => {
    at = all.indexOf(word, at)
    return at
  })
}

test.each(forms)(
  '$name: each word of a document is there, whole and in order, in parts within the limit',
  ({ form, isWithin }) => {
    fc.assert(
      fc.property(knownDocument(), ({ markdown, words }) => {
        const parts = form(markdown)
        expect(parts.filter((part) => !isWithin(part) || part.trim() === '')).toEqual([])
        expect(parts.every((part) => part.isWellFormed())).toBe(true)
        expect(placesOf(readable(parts), words)).not.toContain(-1)
      }),
      runs(75),
    )
  },
)

/** A break of a line, and no letters. */
const BREAK = /<br\s?\/?>/gi

const lettersOf = (text: string): string[] => text.match(/[a-z]/g) ?? []

const missing = (before: string, after: string): string[] => {
  const there = new Map<string, number>()
  for (const letter of lettersOf(after)) there.set(letter, (there.get(letter) ?? 0) + 1)
  return lettersOf(before.replaceAll(BREAK, '')).filter((letter) => {
    const left = there.get(letter) ?? 0
    there.set(letter, left - 1)
    return left <= 0
  })
}

test.each(forms)(
  '$name: of any mixture of signs, no letter is lost, and each part is within the limit',
  ({ form, isWithin }) => {
    fc.assert(
      fc.property(mixture, (markdown) => {
        const parts = form(markdown)
        expect(parts.length).toBeGreaterThan(0)
        expect(
          parts.filter((part) => !isWithin(part) || part === '' || !part.isWellFormed()),
        ).toEqual([])
        expect(missing(markdown, parts.join(''))).toEqual([])
      }),
      { ...runs(200), examples: [['<br> ']] },
    )
  },
)

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
const charactersOf = (text: string) => [...graphemes.segment(text)].map(({ segment }) => segment)

test.each(forms)(
  '$name: a word longer than a message is cut between characters as people see them',
  ({ form, isWithin }) => {
    const unit = fc.constantFrom('👩‍👩‍👧‍👦', '🇩🇪', 'e\u0301', '漢', 'a', '👍🏽', 'ก็')
    fc.assert(
      fc.property(fc.array(unit, { minLength: 1, maxLength: 60 }), (units) => {
        const text = units.join('').repeat(300)
        const parts = form(text)
        expect(parts.every(isWithin)).toBe(true)
        expect(parts.join('').replaceAll(/\s/g, '')).toBe(text)
        expect(parts.flatMap((part) => part.split('\n').flatMap(charactersOf))).toEqual(
          charactersOf(text),
        )
      }),
      runs(30),
    )
  },
)

test.each([
  [
    'cells beyond the headings of a table',
    '| one |\n|---|\n| two | three |',
    ['one', 'two', 'three'],
  ],
  [
    'a table without rows',
    '| one | two | three | four |\n|---|---|---|---|',
    ['one', 'two', 'three', 'four'],
  ],
  [
    'definitions of links',
    '[one][two]\n\n[two]: https://example.com/three\n[two]: https://example.com/four',
    ['one', 'two', 'three', 'four'],
  ],
  [
    'titles',
    '[one](https://example.com "two") ![three](https://example.com (four))',
    ['one', 'two', 'three', 'four'],
  ],
  ['what stands beside the name of a language', '```one two\nthree\n```', ['one', 'two', 'three']],
  [
    'code in lists and quotations',
    '- one\n\n  ```\n  two\n  ```\n\n> three\n>\n>     four',
    ['one', 'two', 'three', 'four'],
  ],
  ['points without words', '-\n- one\n- - two', ['one', 'two']],
  [
    'lists deeper than anybody reads',
    `${'- '.repeat(30)}one\n\n${'> '.repeat(30)}two`,
    ['one', 'two'],
  ],
  [
    'HTML',
    '<details><summary>one</summary>\n\ntwo\n\n<!-- three --></details>',
    ['one', 'two', 'three'],
  ],
] as const)('%s are not lost', (_, markdown, words) => {
  for (const { name, form } of forms) {
    const all = readable(form(markdown))
    expect([name, words.filter((word) => !all.includes(word))]).toEqual([name, []])
  }
})

const LENGTH = 100_000

// What mails are of these texts is in safety.test.ts.
for (const { name, form, isWithin } of forms.filter((one) => one.form !== mailForm))
  test.each(Object.entries(hostile))(`${name}: a hundred thousand characters of %s`, (_, make) => {
    const text = make(LENGTH)
    const parts = form(text)
    expect(parts.length).toBeGreaterThan(0)
    expect(parts.filter((part) => !isWithin(part) || part === '' || !part.isWellFormed())).toEqual(
      [],
    )
    expect(lettersOf(readable(parts)).length).toBeGreaterThanOrEqual(lettersOf(text).length)
  })

test.each(forms)('$name: text without a sign is one short message', ({ form }) => {
  for (const text of ['', ' ', '\n\n\t', '\0'])
    expect(form(text)).toEqual([form === smsForm ? '...' : '…'])
})
