/** The words of a mail, as its author wrote them. */
import { beginning, storable } from '#kernel/storable'
import { textOfHtml } from '#port/egress/html-text'
import { withoutQuotes } from './quotes.ts'

/** The limit for a message to the agent. */
const LONGEST_TEXT = 10_000
/** The limit for the text of HTML, including its quotations. */
const LONGEST_PAGE = 100_000

/** Subjects of mails that are sent for the sake of what they quote. */
const FORWARDED = /^\s*(fwd?|wg|tr|rv|i|enc|vs|doorst)\s*:/i

const cutText = (text: string): string => {
  const whole = storable(text).trim()
  if (whole.length <= LONGEST_TEXT) return whole
  const note = '\n\n[The mail goes on; the rest was left out.]'
  return beginning(whole, LONGEST_TEXT - note.length) + note
}

const isForwarded = (subject: string | null): boolean => FORWARDED.test(subject ?? '')

/**
 * The text without quotations and signatures, unless nothing else is left or the mail forwards
 * them.
 */
export const wordsOfText = (
  text: string,
  subject: string | null,
  { isHtml = false } = {},
): string => {
  const own = isForwarded(subject) ? '' : withoutQuotes(text, { isHtml })
  return cutText(own === '' ? text : own)
}

/** The same for HTML, which may be all that a mail has. */
export const wordsOfHtml = async (html: string, subject: string | null): Promise<string> => {
  const { text } = await textOfHtml(html, LONGEST_PAGE, { quoteMark: '> ' })
  return wordsOfText(text, subject, { isHtml: true })
}

/** The subject on one line, as people read it. */
export const mailSubject = (value: unknown): string | null => {
  const text =
    typeof value === 'string'
      ? beginning(storable(value.slice(0, 2_000).replaceAll(/[\p{Cc}\s]+/gu, ' ')).trim(), 300)
      : ''
  return text === '' ? null : text
}

/** The subject of a reply. */
export const replySubject = (subject: string | null): string => {
  if (subject === null) return 'Re: your message'
  return /^(re|aw|sv|antw|odp)\s*:/i.test(subject) ? subject : `Re: ${subject}`
}
