/**
 * Makes the workspace of a task: over REST where people make such records so, else past the
 * surfaces.
 */
import { newSignal } from '#domain/growth/learning/signal'
import { newTarget } from '#domain/growth/learning/target'
import { newId } from '#kernel/ids'
import { insertSignal } from '#store/growth/signals'
import { insertTarget } from '#store/growth/targets'
import { makeArtifact } from '#test/support/agent/artifacts'
import { makeDocument } from '#test/support/agent/documents'
import { makeMemory } from '#test/support/agent/records'
import { makeSchedule } from '#test/support/agent/schedules'
import { makeWebhookRule } from '#test/support/agent/webhook-rules'
import type { TestApp } from '#test/support/app'
import { write } from '#test/support/arrange'
import { newWorkspace, type Workspace } from '#test/support/contract/prepare'
import { insertItem } from '#test/support/database/writes'
import { softwareProfile } from '#test/support/growth/profiles'
import { othersPost } from '#test/support/growth/records'
import type { Given } from './task.ts'

const DAY_MS = 86_400_000
/** No task takes this long. */
const LATER_MS = 7 * DAY_MS

const send = async ({ app, key }: Workspace, path: string, body: object, method = 'POST') => {
  const reply = await app.send(method, path, { key, body })
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`)
  return reply.body
}

const addItem = async (
  workspace: Workspace,
  { status = 'drafted', ...fields }: NonNullable<Given['items']>[number],
) => {
  const id = await insertItem(workspace.app, workspace.tenantId, fields)
  if (status === 'drafted') return
  await send(workspace, `items/${id}/approve`, {})
  if (status === 'scheduled')
    await send(workspace, `items/${id}/schedule`, {
      post_at: new Date(Date.now() + LATER_MS).toISOString(),
    })
}

/** A post of somebody whom the workspace reads. */
const addSignal = async (workspace: Workspace, text: string): Promise<void> => {
  const now = new Date()
  const others = { total: 0, taken: false }
  const target = newTarget(newId(), {
    handle: `t-${newId()}`,
    category: null,
    priority: 2,
    others,
    now,
  })
  const engaged = {
    network: 'sandbox',
    post_id: await othersPost(workspace, text),
    post_url: null,
    post_author: 'o',
    post_text: text,
  }
  const metrics = { impressions: 1, likes: 0, replies: 0, reposts: 0, quotes: 0, clicks: 0 }
  const post = { text, createdAt: now, metrics, addressesUs: false }
  const found = { post, engaged: { ...engaged, addresses_us: false }, targetId: target.id }
  const signal = newSignal(newId(), found, { terms: new Set<string>(), priority: 2, now })!
  await write(workspace, { writes: [insertTarget(target)] })
  await write(workspace, { writes: [insertSignal(signal)] })
}

const addPlaybook = async (
  workspace: Workspace,
  { draft, ...body }: NonNullable<Given['playbooks']>[number],
): Promise<void> => {
  const { playbook } = await send(workspace, '/api/v1/agent/playbooks', {
    name: body.slug,
    ...body,
  })
  if (draft)
    await send(workspace, `/api/v1/agent/playbooks/${playbook.id}/versions`, { content: draft })
}

const addGrowth = async (workspace: Workspace, given: Given): Promise<void> => {
  const {
    items = [],
    learnings = [],
    products = [],
    experiments = [],
    rules = [],
    targets = [],
    signals = [],
  } = given
  if (given.profile) await send(workspace, 'profile', softwareProfile, 'PUT')
  for (const item of items) await addItem(workspace, item)
  for (const learning of learnings) await send(workspace, 'learnings', learning)
  for (const product of products) await send(workspace, 'products', product)
  for (const experiment of experiments) await send(workspace, 'experiments', experiment)
  for (const handle of targets) await send(workspace, 'targets', { handle })
  for (const text of signals) await addSignal(workspace, text)
  const rule = {
    trigger: { kind: 'batch_settled', status: 'failed' },
    action: { kind: 'draft_batch' },
  }
  for (const name of rules) await send(workspace, 'rules', { name, ...rule })
  if (given.paused) await send(workspace, 'automation/pause-all', {})
}

const addKnowledge = async (workspace: Workspace, given: Given): Promise<void> => {
  const {
    memories = [],
    playbooks = [],
    documents = [],
    schedules = [],
    webhookRules = [],
    artifacts = [],
  } = given
  for (const memory of memories) await makeMemory(workspace, memory)
  for (const playbook of playbooks) await addPlaybook(workspace, playbook)
  for (const document of documents) await makeDocument(workspace, document)
  for (const goal of schedules) await makeSchedule(workspace, { goal })
  for (const goal of webhookRules) await makeWebhookRule(workspace, { goal })
  for (const file_name of artifacts) await makeArtifact(workspace, { file_name })
}

export const arranged = async (app: TestApp, given: Given = {}): Promise<Workspace> => {
  const workspace = await newWorkspace(app)
  await addGrowth(workspace, given)
  await addKnowledge(workspace, given)
  return workspace
}
