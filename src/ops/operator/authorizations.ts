import type { Static } from '@sinclair/typebox'
import type { authorizations } from '#contract/operator/authorizations'
import {
  connectEffects,
  type ReachedAccount,
  unconnectedEffects,
} from '#decisions/growth/connecting'
import { AppError, fail, found } from '#kernel/errors'
import type { BlueskyNetwork } from '#port/network/bluesky/network'
import {
  type OpenAuthorization,
  openAuthorization,
  settleAuthorization,
} from '#store/app/authorizations'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'

interface Reachable {
  bluesky: Pick<BlueskyNetwork, 'name' | 'oauth'>
}

type Connecting = Static<(typeof authorizations)['connect']['input']>
type Refusing = Static<(typeof authorizations)['refuse']['input']>

const pendingOf = (authorization: OpenAuthorization | undefined): OpenAuthorization => {
  const { status, ...rest } = found(authorization, 'no such sign-in')
  if (status === 'pending') return { status, ...rest }
  return fail('conflict', 'this sign-in has ended already', { reason: 'wrong_state' })
}

const partsOf = <I extends { id: string }>({ id }: I) => ({
  authorization: openAuthorization(id),
})

export const authorizationHandlers = ({
  bluesky: { name, oauth },
}: Reachable): Handlers<typeof authorizations> => ({
  connect: loading(
    partsOf<Connecting>,
    async ({ id, account: known }, context, { authorization }) => {
      const { secrets, is_default: isDefault } = pendingOf(authorization)
      const reached: ReachedAccount = {
        network: name,
        externalId: known.external_id,
        handle: known.handle,
        displayName: known.display_name,
        session: oauth.sessionIn(id, Buffer.from(secrets ?? '', 'base64')),
      }
      const auditDetail = { network: name, handle: known.handle, by: 'oauth' }
      try {
        const { account, effects } = await connectEffects(context, reached, isDefault ?? undefined)
        const settled = settleAuthorization(id, { connectionId: account.id })
        return {
          reply: { outcome: 'connected' as const },
          effects: { ...effects, writes: [...(effects.writes ?? []), settled] },
          refId: account.id,
          auditDetail,
        }
      } catch (cause) {
        if (!(cause instanceof AppError) || cause.status >= 500) throw cause
        const effects = await unconnectedEffects(context, reached)
        const settled = settleAuthorization(id, { reason: cause.message })
        return {
          reply: { outcome: 'refused' as const },
          effects: { ...effects, writes: [...effects.writes, settled] },
          auditDetail: { ...auditDetail, refused: cause.code },
        }
      }
    },
  ),

  refuse: loading(partsOf<Refusing>, async ({ id, reason }, _, { authorization }) => {
    pendingOf(authorization)
    return {
      reply: { outcome: 'refused' as const },
      effects: { writes: [settleAuthorization(id, { reason })] },
      auditDetail: { network: name },
    }
  }),
})
