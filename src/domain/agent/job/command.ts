/** Commands in the words of the command line, as people write them to the agent. Pure. */

/** The heading that a mail's subject becomes in a conversation. */
const SUBJECT = /^\s*Subject: [^\n]*\n\s*/

/** What may be a command, of a message as it stands in a conversation. */
export const commandLine = (content: string): string => content.replace(SUBJECT, '').trim()

/** Whether the text says by its first character that it is a command, right or wrong. */
export const isCommand = (text: string): boolean => commandLine(text).startsWith('/')

/** A longer text without the mark is prose. */
export const LONGEST_UNMARKED = 1_000
