import type { channelIdentities } from '#contract/agent/channel-identities'
import { newLinkCode } from '#decisions/agent/channel-codes'
import { CODE_MS, hashOfCode, identityView } from '#domain/agent/channel/identity'
import { linkSteps } from '#domain/agent/channel/linking'
import { fail, found } from '#kernel/errors'
import { channelConnectionPart } from '#store/agent/channel-connections'
import {
  deleteIdentity,
  identitiesOf,
  identityPart,
  putLinkCode,
} from '#store/agent/channel-identities'
import { loadBy } from '#store/engine/load'
import { type Principal, personOf, roleOf } from '#store/engine/principal'
import type { Handlers, Identity } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { pageOf, pageResult } from '../engine/paging.ts'

const connection = ({ id }: { id: string }) => ({ connection: channelConnectionPart(id) })

const NO_CHANNEL = 'no such channel'

/** Throws `forbidden`. */
const requireOwn = (principal: Principal, personId: string): void => {
  const role = roleOf(principal)
  if (principal.member?.personId === personId || role === 'owner' || role === 'approver') return
  fail('forbidden', `the role ${role} can end links of its own alone`)
}

interface Deps {
  identity: Pick<Identity, 'publicUrl'>
}

type All = Handlers<typeof channelIdentities>

const linkCode = ({ identity: { publicUrl } }: Deps): All['linkCode'] =>
  loading(connection, ({ id }, { gate, principal }, { connection }) => {
    const channel = found(connection, NO_CHANNEL)
    const [{ letters, shown }, expiresAt] = [newLinkCode(), new Date(gate.now.getTime() + CODE_MS)]
    const writes = [
      putLinkCode({
        connectionId: id,
        personId: personOf(principal),
        hash: hashOfCode(letters),
        expiresAt,
      }),
    ]
    const steps = linkSteps(channel, publicUrl)
    return { reply: { code: shown, expiresAt, steps }, effects: { writes } }
  })

export const channelIdentityHandlers = (deps: Deps): All => ({
  linkCode: linkCode(deps),

  async list({ id, ...input }, { read }) {
    const page = pageOf(input)
    const { connection: its, identities } = await loadBy(read, {
      ...connection({ id }),
      identities: identitiesOf(id, page),
    })
    found(its, NO_CHANNEL)
    const { rows, next_cursor } = pageResult(identities, page.limit)
    return { identities: rows.map(identityView), nextCursor: next_cursor }
  },

  remove: loading(
    ({ id, identityId }) => ({ identity: identityPart(id, identityId) }),
    ({ identityId }, { principal }, { identity }) => {
      const before = found(identity, 'no such identity of this channel')
      requireOwn(principal, before.person_id)
      const auditDetail = { sender: before.external_id, person_id: before.person_id }
      return {
        reply: { identity: identityView(before) },
        effects: { writes: [deleteIdentity(identityId)] },
        auditDetail,
      }
    },
  ),
})
