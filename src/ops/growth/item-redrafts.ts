import type { itemRedrafts } from '#contract/growth/item-redrafts'
import { admitRedraft } from '#decisions/growth/admission'
import { warningLoad, withWarnings } from '#decisions/growth/item-warnings'
import { itemView } from '#domain/growth/drafting/item-view'
import { found } from '#kernel/errors'
import { itemPart } from '#store/growth/items'
import { isRedrafted } from '#store/growth/redrafts'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'

export const itemRedraftHandlers: Handlers<typeof itemRedrafts> = {
  redraft: loading(
    ({ id }) => ({ item: itemPart(id), open: isRedrafted(id), ...warningLoad({ id }) }),
    ({ hint }, { gate, networks }, { item: loaded, open, ...surroundings }) => {
      const item = found(loaded, 'no such item')
      const { record, effects } = admitRedraft(
        { gate, origin: 'manual' },
        { item, open, hint: hint.trim() },
      )
      const next = { ...item, redraft: { status: 'queued', revision: record.revision } } as const
      return {
        reply: { item: itemView(withWarnings(next, surroundings, networks)) },
        effects,
        auditDetail: { hint: record.hint },
      }
    },
  ),
}
