/**
 * How to make the record that an operation works on, by resource, for tests over all operations. A
 * resource whose operations take an id needs a recipe; test/contract.test.ts says so.
 */
import { operations } from '#contract/index'
import { bodyFrom, type NamedOp, pathParams, readsOnly } from '#contract/op'
import { newEndpoint } from '#domain/app/webhook'
import { newId } from '#kernel/ids'
import { scopes } from '#kernel/scopes'
import { connectAccount } from '#ops/operator/admin/workspaces'
import { newWebhookSecret } from '#port/webhook'
import { insertOperatorInvitation } from '#store/app/invitations'
import { putEndpoint, secretRow } from '#store/app/webhooks'
import { saveEvent } from '#store/engine/outbox'
import { makeReport } from '../agent/artifacts.ts'
import { agentInputs, agentRecipes, PAGE } from '../agent/recipes.ts'
import { makeConversation } from '../agent/records.ts'
import type { Reply, Send, TestApp } from '../app.ts'
import { type Workspace, write } from '../arrange.ts'
import {
  anyChannel,
  makeArticle,
  makeAudit,
  makeBatch,
  makeComment,
  makeEngagement,
  makeExperiment,
  makeItem,
  makeLearning,
  makeProduct,
  makeRule,
  makeSignal,
  makeTarget,
  makeUntitled,
  othersPost,
  queued,
} from '../growth/records.ts'
import { signedIn, tokenOf } from '../session.ts'
import { beginAuthorization, blueskyInput } from './app.ts'
import { type Extent, sampleOf } from './sample.ts'

export type { Workspace }

/** The caller of an operation. */
export interface Caller extends Send {
  app: TestApp
  /** Default: the operation's own. */
  method?: string
  /** Instead of the key, for an operation that needs a person. */
  session?: string
}

interface Recipe {
  /** Makes a record in its first state. Returns its path parameters, with `id`. */
  make(workspace: Workspace): Promise<Record<string, string>>
  /** Operation → how to make its record, if a different one from the first shows more. */
  instead?: Record<string, Recipe['make']>
  /** Operation → operations of the same resource to call first, if the first state will not do. */
  before?: Record<string, string[]>
}

const connect = async ({ app, tenantId, key }: Workspace) => {
  const account = await app.workplace.sandbox.connect(tenantId, `t-${newId()}`)
  await connectAccount(app.workplace.world, tenantId, { network: 'sandbox', ...account })
  const { body } = await app.send('GET', 'connections?limit=1', { key })
  return { id: body.connections[0].id }
}

const join = async ({ app, tenantId }: Workspace) => ({
  id: (await signedIn(app, tenantId, 'viewer')).personId,
})

const invite = async ({ app, tenantId }: Workspace) => {
  const invitation = { tenantId, role: 'viewer' as const, tokenHash: Buffer.from(newId()) }
  return { id: (await insertOperatorInvitation(app.workplace.db, invitation))! }
}

const setWebhook = ({ app, tenantId }: Workspace) => {
  // Refused before any request: nothing that tests send leaves the machine.
  const input = { id: newId(), url: `https://192.168.1.1/${tenantId}`, events: [], now: new Date() }
  const secret = app.workplace.world.sealer.seal(newWebhookSecret(), secretRow(tenantId))
  return write({ app, tenantId }, { writes: [putEndpoint(newEndpoint(input), secret)] })
}

/** An event that was delivered. */
const makeEvent = async (workspace: Workspace) => {
  await setWebhook(workspace)
  const id = newId()
  await write(workspace, { events: [{ id, type: 'growth.item.posted', data: {} }] })
  await write(workspace, {
    writes: [saveEvent(id, { state: 'delivered', attempts: 1, error: null, expiresAt: inADay() })],
  })
  return { id }
}

const SENT_ELSEWHERE = { restored_as_of: new Date() }
const inADay = (): Date => new Date(Date.now() + 86_400_000)

const makeKey = async ({ app, tenantId }: Workspace) => ({
  id: (await app.newKey(['api:read'], tenantId)).id,
})

/** By an operation's id up to its last dot. */
export const recipes: Record<string, Recipe> = {
  'growth.batches': { make: makeBatch, instead: { cancel: queued('batch', makeBatch) } },
  'growth.articles': { make: makeArticle, instead: { cancel: queued('article', makeArticle) } },
  'growth.items': {
    make: (workspace) => makeItem(workspace),
    // Only articles have a title.
    instead: {
      approve: makeUntitled,
      edit: makeUntitled,
      uncomment: (workspace) => makeComment(workspace),
      look: (workspace) => makeItem(workspace, SENT_ELSEWHERE),
    },
    before: {
      schedule: ['approve'],
      unschedule: ['approve', 'schedule'],
      postNow: ['approve'],
      markPosted: ['approve'],
      reopen: ['approve'],
      restore: ['remove'],
    },
  },
  'growth.channels': { make: anyChannel },
  'growth.audits': { make: makeAudit, instead: { cancel: queued('growth_audit', makeAudit) } },
  'growth.reports': {
    make: makeReport,
    instead: {
      cancel: queued('report', (workspace) => makeReport(workspace, { status: 'queued' })),
    },
  },
  'growth.engagements': {
    make: makeEngagement,
    instead: { look: (workspace) => makeEngagement(workspace, SENT_ELSEWHERE) },
    before: { execute: ['approve'], reopen: ['approve'], restore: ['remove'] },
  },
  'growth.learnings': { make: makeLearning },
  'growth.experiments': { make: makeExperiment },
  'growth.products': { make: makeProduct },
  'growth.rules': { make: makeRule },
  'growth.targets': { make: makeTarget },
  'growth.signals': { make: makeSignal },
  'growth.connections': { make: connect },
  ...agentRecipes,
  'app.members': { make: join },
  'app.invitations': { make: invite },
  'app.keys': { make: makeKey },
  'app.connections': { make: connect, instead: { authorization: beginAuthorization } },
  'app.webhook': { make: makeEvent },
}

/**
 * Records of which a workspace has only one, by the same part of an id. They are made before any of
 * their operations is called.
 */
const singletons: Record<string, (workspace: Workspace) => Promise<unknown>> = {
  'app.webhook': setWebhook,
}

const SOME_DAYS = { from: '2026-11-21T07:00:00Z', to: '2026-11-28T07:00:00Z' }

let asked = 0

/** By operation: what its schema cannot express about a valid input. */
const required: Record<
  string,
  (
    workspace: Workspace,
    extent: Extent,
  ) => Record<string, unknown> | Promise<Record<string, unknown>>
> = {
  'growth.batches.create': async (workspace, extent) =>
    extent === 'whole' ? { experiment_id: (await makeExperiment(workspace)).id } : {},
  'growth.audits.create': async (workspace, extent) => {
    if (extent !== 'whole') return {}
    const counts = { impressions: 9, likes: 1, replies: 0, reposts: 0, quotes: 0, clicks: 0 }
    return {
      metrics: [
        {
          item_id: (await makeItem(workspace)).id,
          text: 'x',
          posted_at: '2026-11-21T07:00:00Z',
          ...counts,
        },
      ],
    }
  },
  'growth.items.create': async (workspace, extent) =>
    extent === 'whole'
      ? { kind: 'article', channel: 'articles', account: (await connect(workspace)).id }
      : {},
  // Between two times, items are sorted by time, so the cursor holds a time.
  'growth.items.list': (_, extent) =>
    extent === 'whole'
      ? { cursor: Buffer.from(`1795500000000000 ${newId()}`).toString('base64url') }
      : {},
  'growth.items.edit': async (workspace, extent) =>
    extent === 'whole' ? { account: (await connect(workspace)).id } : {},
  // A new workspace has no profile yet, and no entries.
  'growth.profile.update': () => ({ revision: undefined, remove: {} }),
  'growth.calendar.get': () => SOME_DAYS,
  'growth.metrics.list': (_, extent) => (extent === 'whole' ? SOME_DAYS : {}),
  'growth.items.preview': async (workspace, extent) =>
    extent === 'whole'
      ? { account: (await connect(workspace)).id, item_id: (await makeItem(workspace)).id }
      : {},
  'growth.items.bulk': async (workspace) => ({
    action: 'reject',
    items: [{ id: (await makeItem(workspace)).id }],
  }),
  // The hash of the record's text.
  'growth.items.approve': () => ({ expect_hash: undefined }),
  'growth.engagements.approve': () => ({ expect_hash: undefined }),
  'agent.approvals.reject': () => ({ expect_sha256: undefined }),
  'growth.engagements.create': async (workspace) => ({ post: await othersPost(workspace) }),
  'growth.sandbox.reply': async (workspace) => ({ post: await othersPost(workspace) }),
  'growth.targets.create': () => ({ handle: `h-${newId()}` }),
  'agent.messages.send': async (workspace, extent) =>
    extent === 'whole' ? { conversationId: (await makeConversation(workspace)).id } : {},
  // Only one of a time and a pattern can be given.
  'agent.schedules.update': (_, extent) =>
    extent === 'whole' ? { at: undefined, status: 'active', tools: ['growth_overview'] } : {},
  // Another value from the second time above, as one test asks for the whole input in between.
  'agent.modules.set': () => ({ mcp: (asked++ >> 1) % 2 === 0 }),
  'agent.artifacts.create': async (workspace) => ({
    record: 'report',
    recordId: (await makeReport(workspace)).id,
  }),
  // The arguments of the clock tool.
  'agent.actions.call': (_, extent) => ({
    arguments: extent === 'whole' ? { timeZone: 'Europe/Berlin' } : {},
  }),
  ...agentInputs,
  // The arguments of the call that waits for approval.
  'agent.approvals.approve': (_, extent) => ({
    expect_sha256: undefined,
    ...(extent === 'whole' && { arguments: PAGE }),
  }),
  'app.workspace.requestDeletion': () => ({ name: 'Test' }),
  'app.connections.connectBluesky': blueskyInput,
  // Active products cannot share a name.
  'growth.products.create': () => ({ name: `Product ${newId()}` }),
  'growth.products.update': () => ({ name: `Product ${newId()}` }),
}

/** Reads and commands of a workspace, answered as one record or list. */
export const usualOperations: NamedOp[] = operations.filter(
  (o) => !['personal', 'public', 'download', 'file'].includes(o.kind),
)

export const prefixOf = (o: NamedOp): string => o.id.slice(0, o.id.lastIndexOf('.'))
const nameOf = (o: NamedOp): string => o.id.slice(o.id.lastIndexOf('.') + 1)

/** A new workspace that other tests cannot reach. */
export const newWorkspace = async (app: TestApp): Promise<Workspace> => {
  const { tenantId, key } = await app.newWorkspace([...scopes])
  return { app, tenantId, key, session: await tokenOf(app, tenantId) }
}

/** Sends an input: path parameters in the path, the rest as query or body. */
export const call = (
  { app, method, session, ...given }: Caller,
  o: NamedOp,
  input: Record<string, unknown>,
): Promise<Reply> => {
  const send = o.scope === 'session' && session !== undefined ? { ...given, key: session } : given
  const inPath = pathParams(o.path)
  const path = o.path.replace(/:([a-z_]+)/gi, (_, name: string) =>
    encodeURIComponent(String(input[name])),
  )
  const rest = Object.entries(input).filter(([name]) => !inPath.includes(name))
  const body = bodyFrom(o, input)
  if (!readsOnly(o)) return app.send(method ?? o.method, path, { ...(body && { body }), ...send })
  const query = new URLSearchParams(
    Object.fromEntries(rest.map(([name, value]) => [name, String(value)])),
  )
  return app.send(method ?? o.method, rest.length === 0 ? path : `${path}?${query}`, send)
}

const made = async (workspace: Workspace, o: NamedOp): Promise<Record<string, string>> => {
  const recipe = recipes[prefixOf(o)]
  await singletons[prefixOf(o)]?.(workspace)
  if (pathParams(o.path).length === 0 || !recipe) return {}
  const record = await (recipe.instead?.[nameOf(o)] ?? recipe.make)(workspace)
  for (const name of recipe.before?.[nameOf(o)] ?? []) {
    const step = operations.find(({ id }) => id === `${prefixOf(o)}.${name}`)!
    const reply = await call(workspace, step, { ...sampleOf(step, 'needed'), ...record })
    if (reply.status >= 300) throw new Error(`${step.id} answered ${reply.status}: ${reply.text}`)
  }
  return record
}

/** An input with which the operation succeeds in this workspace, each time on a new record. */
export const legalInput = async (workspace: Workspace, o: NamedOp, extent: Extent = 'needed') => ({
  ...sampleOf(o, extent),
  ...(await required[o.id]?.(workspace, extent)),
  ...(await made(workspace, o)),
})
