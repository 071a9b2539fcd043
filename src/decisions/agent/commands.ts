/** Commands in the words of the command line, as the desk reads them. src/server makes the parser of the command line's own grammar. */

export type ReadCommand = { tool: string; args: Record<string, unknown> } | { error: string }

/** Undefined for a line that is no command. */
export type CommandParser = (line: string) => Promise<ReadCommand | undefined>
