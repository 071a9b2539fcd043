/** Records of growth in their first states, for tests that run over all operations. */
import type { GenerationKind } from '#decisions/growth/generations'
import { newWork } from '#decisions/work'
import { newArticle } from '#domain/growth/drafting/article'
import { batchItem, newBatch } from '#domain/growth/drafting/batch'
import { newComment } from '#domain/growth/drafting/comment'
import { type Engagement, newEngagement } from '#domain/growth/drafting/engagement'
import type { Item } from '#domain/growth/drafting/item'
import { newProduct } from '#domain/growth/drafting/product'
import type { Author } from '#domain/growth/drafting/revision'
import { newExperiment } from '#domain/growth/learning/experiment'
import { newAudit } from '#domain/growth/learning/growth-audit'
import { newLearning } from '#domain/growth/learning/learning'
import { newSignal } from '#domain/growth/learning/signal'
import { newTarget } from '#domain/growth/learning/target'
import { newRule } from '#domain/growth/rules/rule'
import { newId } from '#kernel/ids'
import { insertArticle } from '#store/growth/articles'
import { insertBatch } from '#store/growth/batches'
import { insertComment } from '#store/growth/comments'
import { insertEngagement } from '#store/growth/engagements'
import { insertExperiment } from '#store/growth/experiments'
import { insertGrowthAudit } from '#store/growth/growth-audits'
import { insertItem } from '#store/growth/items'
import { insertLearning } from '#store/growth/learnings'
import { insertProduct } from '#store/growth/products'
import { insertRule } from '#store/growth/rules'
import { insertSignal } from '#store/growth/signals'
import { insertTarget } from '#store/growth/targets'
import { type Workspace, write } from '../arrange.ts'

export const makeBatch = async (workspace: Workspace) => {
  const id = newId()
  await write(workspace, {
    writes: [insertBatch(newBatch(id, { count: 1, focus: '', now: new Date() }))],
  })
  return { id }
}

export const makeArticle = async (workspace: Workspace) => {
  const id = newId()
  const article = newArticle(id, {
    topic: 'late deliveries',
    length: 'short',
    outline: null,
    now: new Date(),
  })
  await write(workspace, { writes: [insertArticle(article)] })
  return { id }
}

export const makeItem = async (workspace: Workspace, changes: Partial<Item> = {}) => {
  const [id, batchId, now] = [newId(), newId(), new Date()]
  const draft = {
    body: 'Every delay starts at the dock.',
    format: 'point',
    hook: 'claim',
    rationale: '',
    stories: [],
    learnings: [],
  }
  const batch = newBatch(batchId, { count: 1, focus: '', now })
  const item = batchItem(draft, { id, batch, length: draft.body.length, now })
  await write(workspace, {
    writes: [insertBatch(batch), insertItem({ ...item, ...changes })],
  })
  return { id: item.id }
}

export const makeUntitled = (workspace: Workspace) =>
  makeItem(workspace, { kind: 'article', title: null })

export const makeComment = async (
  workspace: Workspace,
  by: Author = { kind: 'system', id: 'test' },
) => {
  const [{ id }, comment_id] = [await makeItem(workspace), newId()]
  const said = { item_id: id, body: 'Ask Ida first.', by, total: 0, now: new Date() }
  await write(workspace, { writes: [insertComment(newComment(comment_id, said))] })
  return { id, comment_id }
}

export const makeAudit = async (workspace: Workspace) => {
  const id = newId()
  await write(workspace, {
    writes: [insertGrowthAudit(newAudit(id, { days: 30, given: null, now: new Date() }))],
  })
  return { id }
}

/** A generation whose work is not due yet, so that nothing settles it before the test. */
export const queued =
  (
    kind: GenerationKind,
    make: (workspace: Workspace) => Promise<{ id: string }>,
  ): ((workspace: Workspace) => Promise<Record<string, string>>) =>
  async (workspace) => {
    const { id } = await make(workspace)
    const taken = { key: 'posts', period: '2026-11', amount: 1 }
    await write(workspace, {
      work: [
        newWork(kind, {
          refId: id,
          origin: 'manual',
          runAt: new Date(Date.now() + 86_400_000),
          payload: { taken },
        }),
      ],
    })
    return { id }
  }

export const makeLearning = async (workspace: Workspace) => {
  const learning = newLearning(newId(), {
    kind: 'worked',
    note: 'Numbers first',
    active: 0,
    now: new Date(),
  })
  await write(workspace, { writes: [insertLearning(learning)] })
  return { id: learning.id }
}

export const makeProduct = async (workspace: Workspace) => {
  const others = { total: 0, active: 0, taken: false }
  const product = newProduct(newId(), {
    name: `Product ${newId()}`,
    one_liner: 'Made for a test',
    url: null,
    others,
    now: new Date(),
  })
  await write(workspace, { writes: [insertProduct(product)] })
  return { id: product.id }
}

export const makeExperiment = async (workspace: Workspace) => {
  const input = {
    name: 'Numbers first',
    hypothesis: 'Numbers get replies',
    metric: 'likes' as const,
  }
  const experiment = newExperiment(newId(), { ...input, running: 0, now: new Date() })
  await write(workspace, { writes: [insertExperiment(experiment)] })
  return { id: experiment.id }
}

/** A channel whose rules apply to none of the tests' drafts. */
export const anyChannel = async ({ app, key }: Workspace) => ({
  id: (await app.send('GET', 'overview', { key })).body.overview.channels.find(
    ({ name }: { name: string }) => name === 'threads',
  ).id,
})

export const makeRule = async (workspace: Workspace) => {
  const input = {
    name: 'Keep drafting',
    trigger: { kind: 'item_posted' },
    action: { kind: 'draft_batch' },
  } as const
  const rule = newRule(newId(), input, { total: 0, timeZone: 'UTC', now: new Date() })
  await write(workspace, { writes: [insertRule(rule)] })
  return { id: rule.id }
}

/** Another account's post in the sandbox. */
export const othersPost = async (
  { app }: Pick<Workspace, 'app'>,
  text = 'What do you do about late deliveries?',
): Promise<string> => {
  const { sandbox } = app.workplace
  const account = { id: newId(), ...(await sandbox.connect(newId(), `o-${newId()}`)) }
  const sent = await sandbox.publish(
    { account, text, attemptId: newId(), key: null, madeAt: new Date(), deadlineMs: 5_000 },
    AbortSignal.timeout(30_000),
  )
  if (sent.kind !== 'posted') throw new Error(`not posted: ${JSON.stringify(sent)}`)
  return sent.externalId
}

export const makeEngagement = async (workspace: Workspace, changes: Partial<Engagement> = {}) => {
  const post = {
    network: 'sandbox',
    post_id: await othersPost(workspace),
    post_url: null,
    post_author: null,
    post_text: null,
  }
  const input = {
    ...post,
    addresses_us: false,
    action: 'reply' as const,
    instruction: null,
    body: 'We call first.',
    signal_id: null,
  }
  const rule = { measure: (text: string) => text.length, maxLength: 280 }
  const { engagement } = newEngagement(newId(), input, {
    rule,
    source: { source_kind: 'system', source_id: null },
    by: null,
    now: new Date(),
  })
  await write(workspace, { writes: [insertEngagement({ ...engagement, ...changes })] })
  return { id: engagement.id }
}

export const makeTarget = async (workspace: Workspace) => {
  const others = { total: 0, taken: false }
  const target = newTarget(newId(), {
    handle: `t-${newId()}`,
    category: null,
    priority: 2,
    others,
    now: new Date(),
  })
  await write(workspace, { writes: [insertTarget(target)] })
  return { id: target.id }
}

export const makeSignal = async (workspace: Workspace) => {
  const { id: targetId } = await makeTarget(workspace)
  const engaged = {
    network: 'sandbox',
    post_id: await othersPost(workspace),
    post_url: null,
    post_author: 'o',
    post_text: 'Well?',
  }
  const metrics = { impressions: 1, likes: 0, replies: 0, reposts: 0, quotes: 0, clicks: 0 }
  const post = { text: 'Well?', createdAt: new Date(), metrics, addressesUs: false }
  const weighing = { terms: new Set<string>(), priority: 2, now: new Date() }
  const signal = newSignal(
    newId(),
    { post, engaged: { ...engaged, addresses_us: false }, targetId },
    weighing,
  )!
  // Open for longer than the clock of any test reaches.
  await write(workspace, {
    writes: [insertSignal({ ...signal, expires_at: new Date('2999-01-01') })],
  })
  return { id: signal.id }
}
