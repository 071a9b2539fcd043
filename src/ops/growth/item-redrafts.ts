import type { itemRedrafts } from '#contract/growth/item-redrafts'
import { admitRedraft } from '#decisions/growth/admission'
import { itemPart } from '#store/growth/items'
import { isRedrafted } from '#store/growth/redrafts'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { itemReply, requireItem } from './shared/deciding-item.ts'

export const itemRedraftHandlers: Handlers<typeof itemRedrafts> = {
  redraft: loading(
    ({ id }) => ({ item: itemPart(id), open: isRedrafted(id) }),
    ({ hint }, { gate }, { item: loaded, open }) => {
      const item = requireItem(loaded)
      const { record, effects } = admitRedraft(
        { gate, origin: 'manual' },
        { item, open, hint: hint.trim() },
      )
      const next = { ...item, redraft: { status: 'queued', revision: record.revision } } as const
      return {
        reply: itemReply(next),
        effects,
        auditDetail: { hint: record.hint },
      }
    },
    ({ id }) => ({ id }),
  ),
}
