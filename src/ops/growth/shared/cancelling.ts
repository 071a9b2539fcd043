/** Cancels a generation, in the same way for all kinds that people request. */
import {
  cancelGeneration,
  type GenerationKind,
  type GenerationStore,
} from '#decisions/growth/generations'
import type { Drafting } from '#domain/growth/drafting/generation'
import { workFor } from '#store/engine/work'
import type { HandlerResult } from '../../engine/call.ts'
import { loading } from '../../engine/loading.ts'

/** The handler for a kind. A settled generation stays as it is and is returned. */
export const cancelling = <R extends Drafting, O>(
  kind: GenerationKind,
  store: GenerationStore<R>,
  replyOf: (record: R) => O,
) =>
  loading(
    ({ id }: { id: string }) => ({ work: workFor(kind, id) }),
    async ({ id }, { sql, gate, lanes }, { work }): Promise<HandlerResult<O>> => {
      const record = await store.lock(sql, id)
      const ended = cancelGeneration(store, record, { lanes, now: gate.now, work })
      return ended
        ? { reply: replyOf(ended.record), effects: ended.effects }
        : { reply: replyOf(record), unchanged: true }
    },
  )
