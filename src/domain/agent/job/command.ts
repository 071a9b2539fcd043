/** Commands that people write to the agent in the syntax of the command line. Pure. */

/** The heading that holds a mail's subject in a conversation. */
const SUBJECT = /^\s*Subject: [^\n]*\n\s*/

/** The part of a message that may be a command, given the message as it is in a conversation. */
export const commandLine = (content: string): string => content.replace(SUBJECT, '').trim()

/** Whether the first character marks the text as a command, valid or not. */
export const isCommand = (text: string): boolean => commandLine(text).startsWith('/')

/** A longer text without the mark is prose, not a command. */
export const LONGEST_UNMARKED = 1_000
