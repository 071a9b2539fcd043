/** The text of a call that waits for a person. People change it as plain text, not within JSON. */
import { capabilities, operations } from './index.ts'
import { textFieldOf } from './op.ts'
import { type AskedCall, type CallText, textAt } from './text-argument.ts'

/** The argument of a tool that is its text. */
export const textFieldOfTool = (name: string): string | undefined => {
  const o = [...operations, ...capabilities].find(({ tool }) => tool === name)
  return o && textFieldOf(o)
}

/**
 * The text that the call would send or keep. Undefined if it has none, or if its text cannot be
 * changed.
 */
export const textOfCall = (asked: AskedCall & { tool_name: string }): CallText | undefined =>
  textAt(textFieldOfTool(asked.tool_name), asked)
