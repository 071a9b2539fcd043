/**
 * A tool of the agent that changes something outside the workspace, which no transaction can undo.
 */
import type { Tool, ToolBox } from '#decisions/agent/toolbox'
import { fail } from '#kernel/errors'
import { testStops } from '../actors/stops.ts'
import { plannedModel } from './plan.ts'

export const OUTSIDE = 'outside_note'

const tool: Tool = {
  name: OUTSIDE,
  title: 'Write a note outside',
  description: 'Write a note outside of the workspace.',
  parameters: {
    type: 'object',
    properties: { text: { type: 'string' } },
    required: ['text'],
    additionalProperties: false,
  },
  module: 'test',
  class: 'outside_write',
  way: 'outside',
  foreign: false,
}

/** The same tool box, except for what is replaced. */
export const changed = (box: ToolBox, changes: Partial<ToolBox>): ToolBox => ({
  tools: box.tools,
  mayRun: (...given) => box.mayRun(...given),
  roles: (...given) => box.roles(...given),
  checked: (...given) => box.checked(...given),
  asks: (...given) => box.asks(...given),
  includes: (...given) => box.includes(...given),
  commits: (...given) => box.commits(...given),
  decide: (...given) => box.decide(...given),
  read: (...given) => box.read(...given),
  reach: (...given) => box.reach(...given),
  look: (...given) => box.look(...given),
  subject: (...given) => box.subject(...given),
  kept: (...given) => box.kept(...given),
  naming: (...given) => box.naming(...given),
  text: (...given) => box.text(...given),
  sources: (...given) => box.sources(...given),
  isForeign: (...given) => box.isForeign(...given),
  ...changes,
  and: (served) => changed(box.and(served), changes),
})

/** Adds the tool to the agent's. `send` gets the text of each note. */
export const withOutside =
  (send: (text: string) => Promise<void>) =>
  (box: ToolBox): ToolBox =>
    changed(box, {
      tools: new Map([...box.tools, [OUTSIDE, tool]]),
      mayRun: (name, caller) => name === OUTSIDE || box.mayRun(name, caller),
      checked(name, args) {
        if (name !== OUTSIDE) return box.checked(name, args)
        const { text } = args as { text?: unknown }
        return typeof text === 'string' ? { text } : fail('invalid_input', 'text must be a string')
      },
      async read(name, args, caller, job) {
        if (name !== OUTSIDE) return box.read(name, args, caller, job)
        await send(args.text as string)
        return { written: true }
      },
      kept: (name, value) => (name === OUTSIDE ? value : box.kept(name, value)),
      text: (name, value) => (name === OUTSIDE ? JSON.stringify(value) : box.text(name, value)),
      sources: (name, value) => (name === OUTSIDE ? undefined : box.sources(name, value)),
      isForeign: (name, value) => name !== OUTSIDE && box.isForeign(name, value),
    })

/**
 * Jobs that stop where a test says: also at `test.asked`, in the model, and at `test.sent`, when a
 * note is outside. `sent` has the texts of the notes.
 */
export const stoppableJobs = () => {
  const stops = testStops()
  const sent: string[] = []
  const send = async (text: string): Promise<void> => {
    sent.push(text)
    await stops.at('test.sent')
  }
  const thinker = plannedModel(() => stops.at('test.asked'))
  return { stops, sent, overrides: { failpoints: stops.at, thinker, tools: withOutside(send) } }
}
