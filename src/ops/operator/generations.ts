import type { generations } from '#contract/operator/generations'
import { cancelGeneration, findGeneration } from '#decisions/growth/generations'
import type { Drafting } from '#domain/growth/drafting/generation'
import type { Handlers } from '../engine/call.ts'

const replyOf = ({ id, status, error }: Drafting) => ({ generation: { id, status, error } })

export const generationHandlers: Handlers<typeof generations> = {
  async cancel({ id }, { sql, gate, lanes }) {
    const { store, record, work } = await findGeneration(sql, id)
    const ended = cancelGeneration(store, record, { lanes, now: gate.now, work })
    return ended
      ? { reply: replyOf(ended.record), effects: ended.effects }
      : { reply: replyOf(record) }
  },
}
