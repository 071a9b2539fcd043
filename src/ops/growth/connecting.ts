import type { appConnections } from '#contract/growth/connecting'
import {
  connectEffects,
  connectionView,
  disconnectEffects,
  reachAccount,
  unfitDrafts,
} from '#decisions/growth/connecting'
import { fail } from '#kernel/errors'
import type { BlueskyNetwork } from '#port/network/bluesky/network'
import type { Sandbox } from '#port/network/sandbox/sandbox'
import { attemptsInFlight } from '#store/growth/attempts'
import { choicesPart, connectionPart, defaultPart } from '#store/growth/connections'
import type { Handlers, Identity, Rates } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'
import { authorizingHandlers } from './shared/authorizing.ts'

/** The same handle as `tendril admin tenant create --sandbox` uses. */
const handleOf = (tenantId: string): string => `workspace-${tenantId.slice(-12)}`

/** For the sign-in, and for finding the repository. */
const SIGN_IN_MS = 25_000

interface Reachable {
  sandbox: Pick<Sandbox, 'name' | 'connect'>
  bluesky: Pick<BlueskyNetwork, 'name' | 'service' | 'connect' | 'isHandle' | 'oauth'>
  rates: Pick<Rates, 'signIn'>
  identity: Pick<Identity, 'publicUrl'>
}

/** Connecting an account of Bluesky by an app password. */
const passwordHandlers = ({
  bluesky,
  rates,
}: Pick<Reachable, 'bluesky' | 'rates'>): Pick<
  Handlers<typeof appConnections>,
  'connectBluesky'
> => ({
  connectBluesky: {
    async prepare(
      { handle, app_password: password, service, keep = true, default: isDefault },
      { tenantId },
    ) {
      rates.signIn(tenantId, handle)
      const reached = await reachAccount(
        { network: bluesky.name, where: service ?? bluesky.service },
        bluesky.connect({ handle, password, service, keep }, AbortSignal.timeout(SIGN_IN_MS)),
      )
      return async (_, context) => {
        const { account, effects } = await connectEffects(context, reached, isDefault)
        const unfit_drafts = await unfitDrafts(context, account, bluesky.isHandle)
        const auditDetail = { network: account.network, handle: account.handle }
        const reply = { ...connectionView(context, account), unfit_drafts }
        return { reply, effects, refId: account.id, auditDetail }
      }
    },
  },
})

export const appConnectionsHandlers = ({
  sandbox,
  bluesky,
  rates,
  identity,
}: Reachable): Handlers<typeof appConnections> => ({
  connectSandbox: {
    async prepare({ handle }, { tenantId }) {
      const reached = await reachAccount(
        { network: sandbox.name },
        sandbox.connect(tenantId, handle ?? handleOf(tenantId)),
      )
      return async (_, context) => {
        const { account, effects } = await connectEffects(context, reached)
        const auditDetail = { network: account.network, handle: account.handle }
        return { reply: connectionView(context, account), effects, refId: account.id, auditDetail }
      }
    },
  },

  ...passwordHandlers({ bluesky, rates }),
  ...authorizingHandlers({ bluesky, identity }),

  disconnect: loading(
    ({ id }) => ({
      account: connectionPart(id),
      current: defaultPart,
      choices: choicesPart,
      attempts: attemptsInFlight,
    }),
    async (_, context, { account, current, choices, attempts }) => {
      if (!account || account.status === 'disconnected')
        return fail('not_found', 'no such connected account')
      const left = account.is_default ? undefined : current
      const auditDetail = { network: account.network, handle: account.handle }
      const others = choices.filter((one) => one.id !== account.id)
      const { result, inFlight } = await disconnectEffects(context, account, attempts)
      return {
        ...result,
        reply: { ...connectionView(context, left, others), in_flight: inFlight },
        auditDetail,
      }
    },
  ),
})
