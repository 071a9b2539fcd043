/**
 * Finds when something is due, in phrases such as "by Friday" or "bis Ende der Woche". English and
 * German.
 */

const DAY =
  'monday|tuesday|wednesday|thursday|friday|saturday|sunday|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag'
const MONTH =
  'january|february|march|april|may|june|july|august|september|october|november|december|januar|februar|märz|mai|juni|juli|oktober|dezember'

const english = [
  `(?:next |this )?(?:${DAY})(?: (?:morning|noon|afternoon|evening))?`,
  '(?:the )?end of (?:the |this |next )?(?:day|week|month|quarter|year)',
  `(?:the )?\\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:${MONTH})(?: \\d{4})?`,
  `(?:${MONTH}) \\d{1,2}(?:st|nd|rd|th)?(?:,? \\d{4})?`,
  'the \\d{1,2}(?:st|nd|rd|th)',
  '\\d{4}-\\d{2}-\\d{2}',
  '(?:the )?next \\p{L}+',
  'tomorrow|today|tonight|noon|eod|eow|cob',
].join('|')

const german = [
  `(?:nächsten |kommenden )?(?:${DAY})(?:abend|mittag|nachmittag|früh)?`,
  `\\d{1,2}\\. ?(?:${MONTH})(?: \\d{4})?`,
  '\\d{1,2}\\.\\d{1,2}\\.(?:\\d{2,4})?',
  'ende (?:der|dieser|des|dieses|nächster|nächsten) (?:woche|monats|jahres|quartals)',
  `(?:ende|anfang|mitte) (?:${MONTH})`,
  '(?:nächste|nächster|kommende) woche',
  'heute abend|heute|morgen|übermorgen|mittag|kw \\d{1,2}',
  '\\d{4}-\\d{2}-\\d{2}',
].join('|')

const forms = [
  new RegExp(
    `,?\\s*\\b(?:by|before|until|no later than|due(?: on| by)?)\\s+(${english})(?![\\p{L}\\d])`,
    'iu',
  ),
  new RegExp(
    `,?\\s*(?<!\\p{L})(?:spätestens )?bis (?:zum |zur |spätestens )?(${german})(?![\\p{L}\\d])`,
    'iu',
  ),
  new RegExp(
    `\\s+(?:on )?(tomorrow|today|tonight|next week|(?:next |this )?(?:${DAY}))[.!?]*$`,
    'iu',
  ),
  /\s+(heute|morgen|übermorgen)(?=\s|[.!?]*$)/iu,
]

/** The text without its date, and the date. */
export const withoutDue = (text: string): { rest: string; due: string | null } => {
  for (const form of forms) {
    const found = form.exec(text)
    if (found)
      return {
        rest: `${text.slice(0, found.index)}${text.slice(found.index + found[0].length)}`,
        due: found[1]!,
      }
  }
  return { rest: text, due: null }
}
