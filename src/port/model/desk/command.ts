/** Commands in a conversation, in the words of the command line. */
import { commandLine, isCommand, LONGEST_UNMARKED } from '#domain/agent/job/command'
import { withListed } from './ordinals.ts'

/** A call of a tool; or, in place of a call, what to tell the person who wrote the line. */
export type Understood = { tool: string; args: Record<string, unknown> } | { error: string }

/**
 * Reads a line. Undefined if it is no command; a line that begins with `/` always is one, though
 * perhaps a wrong one.
 */
export type Parse = (line: string) => Promise<Understood | undefined>

/**
 * `shown`: what the person has been shown in the conversation, oldest first. `/items approve 2`
 * counts in the list shown last.
 */
export const understand = async (
  line: string,
  parse: Parse,
  shown: readonly string[],
): Promise<Understood | undefined> => {
  const found = await parse(commandLine(line))
  if (!found || 'error' in found) return found
  const listed = withListed(found.args, shown)
  return 'error' in listed ? listed : { tool: found.tool, ...listed }
}

/**
 * Whether a text is for the desk, whatever model is set: marked as a command, or exactly one
 * without the mark.
 */
export const isForDesk = async (text: string, parse: Parse): Promise<boolean> => {
  if (isCommand(text)) return true
  const line = commandLine(text)
  if (line.length > LONGEST_UNMARKED) return false
  const found = await parse(line)
  return found !== undefined && 'tool' in found
}
