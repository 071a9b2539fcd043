/** Webhook rules of the agent in tests, and posts to them. */
import type { OnBehalf } from '#domain/agent/job/job'
import { newWebhookRule, pathOf } from '#domain/agent/trigger/webhook-rule'
import { newId } from '#kernel/ids'
import { newWebhookSecret, signedHeaders } from '#port/webhook'
import { insertRuleRoute, insertWebhookRule, ruleSecretRow } from '#store/agent/webhook-rules'
import { type Workspace, write } from '../arrange.ts'

interface Wish {
  goal?: string
  by?: OnBehalf
  tools?: string[] | null
  taint?: string[]
  /** People who may see the secret once. */
  revealTo?: string[]
}

export interface MadeRule {
  id: string
  path: string
  secret: string
}

export const makeWebhookRule = async (
  place: Pick<Workspace, 'app' | 'tenantId'> & Partial<Pick<Workspace, 'session'>>,
  {
    goal = 'Say what came',
    by = { kind: 'key', id: newId(), personId: null },
    tools = null,
    taint = [],
    revealTo,
  }: Wish = {},
): Promise<MadeRule> => {
  const [id, secret] = [newId(), newWebhookSecret()]
  const reveal_to = revealTo ?? [...(await peopleOf(place))]
  const rule = newWebhookRule({
    id,
    name: 'Orders',
    goal,
    tools,
    on_behalf: by,
    taint,
    reveal_to,
    total: 0,
    now: new Date(),
  })
  const sealed = place.app.workplace.world.sealer.seal(secret, ruleSecretRow(id))
  await write(place, { writes: [insertWebhookRule(rule, sealed), insertRuleRoute(id)] })
  return { id, path: pathOf({ id }), secret }
}

const peopleOf = async ({
  app,
  tenantId,
}: Pick<Workspace, 'app' | 'tenantId'>): Promise<string[]> =>
  (
    await app.owner<
      { person_id: string }[]
    >`select person_id from member where tenant_id = ${tenantId}`
  ).map(({ person_id }) => person_id)

interface Post {
  /** Default: a new webhook-id. */
  id?: string
  body?: string
  at?: Date
  /** Replace the right ones. */
  headers?: Record<string, string>
}

/** Sends a signed post to a rule, at the server with this address. */
export const post = async (
  url: string,
  { path, secret }: Pick<MadeRule, 'path' | 'secret'>,
  { id = newId(), body = '{"order":1}', at = new Date(), headers = {} }: Post = {},
) => {
  const { 'x-webhook-signature': _, ...signed } = signedHeaders({ id, at, body }, [secret])
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { ...signed, ...headers },
    body,
  })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as { error?: { code: string; message: string } },
  }
}
