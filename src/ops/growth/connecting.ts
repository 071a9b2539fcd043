import type { appConnections } from '#contract/growth/connecting'
import {
  connectEffects,
  connectionView,
  disconnectEffects,
  reachAccount,
} from '#decisions/growth/connecting'
import { fail } from '#kernel/errors'
import type { Sandbox } from '#port/network/sandbox/sandbox'
import { attemptsInFlight } from '#store/growth/attempts'
import { choicesPart, connectionPart, defaultPart } from '#store/growth/connections'
import type { Handlers } from '../engine/call.ts'
import { loading } from '../engine/loading.ts'

/** The same handle as `tendril admin tenant create --sandbox` uses. */
const handleOf = (tenantId: string): string => `workspace-${tenantId.slice(-12)}`

export const appConnectionsHandlers = (
  sandbox: Pick<Sandbox, 'name' | 'connect'>,
): Handlers<typeof appConnections> => ({
  connectSandbox: {
    async prepare({ handle }, { tenantId }) {
      const reached = await reachAccount(
        sandbox.name,
        sandbox.connect(tenantId, handle ?? handleOf(tenantId)),
      )
      return async (_, context) => {
        const { account, effects } = await connectEffects(context, reached)
        const auditDetail = { network: account.network, handle: account.handle }
        return { reply: connectionView(context, account), effects, refId: account.id, auditDetail }
      }
    },
  },

  disconnect: loading(
    ({ id }) => ({
      account: connectionPart(id),
      current: defaultPart,
      choices: choicesPart,
      attempts: attemptsInFlight,
    }),
    async (_, context, { account, current, choices, attempts }) => {
      if (account?.status !== 'connected') return fail('not_found', 'no such connected account')
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
