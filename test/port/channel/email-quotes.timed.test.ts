import { expect, test } from 'bun:test'
import { withoutQuotes } from '#port/channel/email/quotes'
import { processorTime } from '#test/support/processor-time'

const repeated = (text: string, most = 100_000) =>
  text.repeat(Math.ceil(most / text.length)).slice(0, most)

/** Texts on which the regular expressions of the parser alone take from seconds to years. */
const hostile: [string, string][] = [
  ['blank lines', repeated('\n')],
  ['blank lines with spaces', repeated('   \n')],
  ['one long line', repeated('a')],
  ['one line of spaces', repeated(' ')],
  ['" on … at "', repeated(' on x at y wrote')],
  ['lines of " on … at … wrote"', repeated('x on y at z wrote\n')],
  ['openings', repeated('On a b\n')],
  ['openings in one line', `On ${repeated('a ')}`],
  ['Dutch openings and no end', repeated('Op a schreef b\n')],
  ['Dutch openings in one line', repeated('Op a schreef b ')],
  ['Polish', repeated('W dniu x pisze y\n')],
  ['Danish', repeated('ons. x skrev y\n')],
  ['Chinese', repeated('在写道\n')],
  ['digits and brackets', repeated('0000 from <a> ')],
  ['digits', `${repeated('0', 290)}from<>\n`.repeat(300)],
  ['times', repeated('10:00 2026 " < > :\n')],
  ['times with many signs', repeated('10.10 2026 """<<<>>>10.10\n')],
  ['dashes', repeated('-')],
  ['lines of dashes', repeated('----\n')],
  ['long lines of dashes', `${repeated('-', 299)}\n`.repeat(300)],
  ['quotation marks', repeated('>')],
  ['lines of quotation marks', repeated('> \n')],
  ['heads', repeated('From: <a\n')],
  ['heads with brackets', repeated('From: [<[<[<]>]>]>x\n')],
  ['signatures', repeated('Regards\n')],
  ['words before a signature', repeated('a and regards ')],
  ['Outlook', repeated('Get Outlook for \n')],
  ['In data', `In data ${repeated('a ')}`],
  ['lines of In data', repeated(`In data ${'a '.repeat(140)}\n`)],
  ['tildes', repeated('~')],
]

/** An honest mail of the same length. */
const honest = `${'A sentence of a mail that somebody wrote for us.\n'.repeat(2_000)}\n> ${'quoted\n> '.repeat(200)}`

test.each(hostile)('a hostile mail takes no longer than a few honest ones: %s', (_, text) => {
  const honestTime = processorTime(() => void withoutQuotes(honest))
  expect(processorTime(() => void withoutQuotes(text)) / honestTime).toBeLessThan(10)
})
