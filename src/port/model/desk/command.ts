/** Commands in a conversation, worded like those of the command line. */
import { commandLine, isCommand, LONGEST_UNMARKED } from '#domain/agent/job/command'
import { withListed } from './ordinals.ts'

/** A call of a tool, or an error for the person who wrote the line. */
export type Understood = { tool: string; args: Record<string, unknown> } | { error: string }

/**
 * Reads a line. Undefined if it is not a command. A line that begins with `/` always counts as one,
 * even if it is wrong.
 */
export type Parse = (line: string) => Promise<Understood | undefined>

/**
 * `shown`: what the person has been shown in the conversation, oldest first. Positions such as that
 * in `/items approve 2` count in the list shown last.
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
 * Whether a text is for the desk, whatever model is configured. It is if it is marked as a command,
 * or is exactly a command without the mark.
 */
export const isForDesk = async (text: string, parse: Parse): Promise<boolean> => {
  if (isCommand(text)) return true
  const line = commandLine(text)
  if (line.length > LONGEST_UNMARKED) return false
  const found = await parse(line)
  return found !== undefined && 'tool' in found
}
