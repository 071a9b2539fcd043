/** What of a mail its author wrote now; and hostile mails, which hold nobody up. */
import { expect, test } from 'bun:test'
import EmailReplyParser from 'email-reply-parser'
import fc from 'fast-check'
import { withoutQuotes } from '#port/channel/email/quotes'
import { runs } from '#test/support/property'

const cut: [string, string, string][] = [
  ['nothing to cut', 'Hello,\n\nwhat is due today?\n\nAda', 'Hello,\n\nwhat is due today?\n\nAda'],
  [
    'Gmail',
    'Yes, please.\n\nOn Mon, Nov 23, 2026 at 10:00 AM Tendril <agent@example.com> wrote:\n\n> Shall I?\n> Say so.\n',
    'Yes, please.',
  ],
  [
    'Gmail, broken in two',
    'Yes.\n\nOn Mon, Nov 23, 2026 at 10:00 AM The Agent of Acme\n<agent@example.com> wrote:\n\n> Shall I?',
    'Yes.',
  ],
  [
    'Apple Mail',
    'Do it.\n\nSent from my iPhone\n\n> On 23 Nov 2026, at 10:00, Tendril <agent@example.com> wrote:\n> \n> Shall I?',
    'Do it.',
  ],
  [
    'Outlook',
    'Do it.\n\n________________________________\nFrom: Tendril <agent@example.com>\nSent: Monday\nTo: Ada\nSubject: Re: x\n\nShall I?',
    'Do it.',
  ],
  [
    'Outlook without a line',
    'Do it.\n\nFrom: Tendril <agent@example.com>\nSent: Monday\n\nShall I?',
    'Do it.',
  ],
  ['an original message', 'Do it.\n\n-----Original Message-----\nFrom: x\n\nShall I?', 'Do it.'],
  [
    'German',
    'Ja.\n\nAm Mo., 23. Nov. 2026 um 10:00 Uhr schrieb Tendril <agent@example.com>:\n\n> Soll ich?',
    'Ja.',
  ],
  [
    'French',
    'Oui.\n\nLe lun. 23 nov. 2026 à 10:00, Tendril <agent@example.com> a écrit :\n\n> Dois-je ?',
    'Oui.',
  ],
  [
    'Spanish',
    'Sí.\n\nEl lun, 23 nov 2026 a las 10:00, Tendril (<agent@example.com>) escribió:\n\n> ¿Lo hago?',
    'Sí.',
  ],
  [
    'Dutch',
    'Ja.\n\nOp ma 23 nov 2026 om 10:00 schreef Tendril <agent@example.com>:\n\n> Zal ik?',
    'Ja.',
  ],
  [
    'Polish',
    'Tak.\n\nW dniu 23.11.2026 o 10:00, Tendril <agent@example.com> pisze:\n\n> Mam?',
    'Tak.',
  ],
  ['Chinese', '好的。\n\n在 2026年11月23日 10:00, Tendril 写道：\n\n> 可以吗', '好的。'],
  ['answers between quotations', '> Shall I?\n\nYes.\n\n> And this?\n\nNo.', 'Yes.\nNo.'],
  [
    'an answer below',
    'On Mon, Nov 23, 2026 at 10:00 AM Tendril <agent@example.com> wrote:\n> Shall I?\n\nYes.',
    'Yes.',
  ],
  ['a signature', 'Do it.\n\n-- \nAda Lovelace\nAnalytical Engines', 'Do it.'],
  ['regards', 'Do it.\n\nKind regards,\nAda', 'Do it.'],
  [
    'words of quotations in a sentence',
    'Ada wrote that it is late. I scritto nothing.',
    'Ada wrote that it is late. I scritto nothing.',
  ],
  ['marks of our own', 'a\u{E000}0\u{E001}b\n\u{E000}7\u{E001}', 'a0b\n7'],
  ['Windows lines', 'one\r\ntwo\r\n\r\n> three\r\n', 'one\ntwo'],
]

test.each(cut)('%s', (_, text, expected) => {
  expect(withoutQuotes(text)).toBe(expected)
})

test.each(
  cut.filter(
    ([name]) => !['marks of our own', 'Windows lines', 'Gmail, broken in two'].includes(name),
  ),
)('as the parser itself cuts it: %s', (_, text) => {
  const squeezed = (given: string) => given.replaceAll(/\s+/g, ' ').trim()
  expect(squeezed(withoutQuotes(text))).toBe(squeezed(new EmailReplyParser().parseReply(text)))
})

test('all quotation: nothing is left', () => {
  expect(withoutQuotes('> one\n> two')).toBe('')
})

test('HTML without blank lines', () => {
  const text = 'Do it.\nFrom: Tendril <agent@example.com>\nSent: Monday\nShall I?'
  expect(withoutQuotes(text, { isHtml: true })).toBe('Do it.')
})

test('it never throws, and adds nothing', () => {
  const line = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 60 }),
    fc.constantFrom(
      '',
      '> x',
      '-- ',
      'On Mon, Ada wrote:',
      'Op x',
      'schreef y:',
      'From: A <a@b>',
      'Regards,',
      '\u{E000}1\u{E001}',
      'Sent from my iPhone',
    ),
  )
  fc.assert(
    fc.property(fc.array(line, { maxLength: 60 }), fc.boolean(), (lines, isHtml) => {
      const text = lines.join('\n')
      const kept = withoutQuotes(text, { isHtml })
      const words = text.replaceAll(/[\u{E000}\u{E001}]/gu, '').split(/\s+/)
      for (const word of kept.split(/\s+/)) expect(word === '' || words.includes(word)).toBe(true)
    }),
    runs(500),
  )
})
