/**
 * A month of a workspace on the sandbox, over HTTP and with a clock that the test steps. The posts
 * of the first half are measured and audited, the findings steer the next drafts, an experiment
 * runs through the second half, and every Monday brings a report.
 */
import { beforeAll, describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { connectAccount } from '#ops/operator/admin/workspaces'
import { sandboxMetrics } from '#port/network/sandbox/metrics'
import { eventually } from '#test/support/app'
import { steppedDb } from '#test/support/database/clock'
import { softwareProfile } from '#test/support/growth/profiles'
import { newStory, type Story } from '#test/support/growth/story'
import { use, useApp } from '#test/support/use'

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** Noon in Berlin, on a Monday. */
const BEGIN = new Date('2026-06-01T10:00:00Z')

let story: Story
const db = use(steppedDb)
beforeAll(async () => {
  await db.clock.set(BEGIN)
})
const app = useApp(() => ({ database: db.options, overrides: { idleMs: 20, sweepMs: 20 } }))
beforeAll(async () => {
  story = await newStory(app)
})

const call = async (method: string, path: string, body?: object) => {
  const reply = await story.send(method, path, body ? { body } : {})
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`)
  return reply.body
}

/** Resolves when no work is due. */
const quiet = () =>
  eventually(
    async () => {
      const now = new Date(await db.clock.now())
      return app.owner`select kind from work where tenant_id = ${story.tenantId}
        and (state = 'running' or run_at <= ${now})`
    },
    (due) => due.length === 0,
  )

/**
 * Lets time pass until `sinceBegin` ms after the beginning: from one due post or report to the
 * next, and at least three steps a day.
 */
const passTo = async (sinceBegin: number): Promise<void> => {
  const end = BEGIN.getTime() + sinceBegin
  for (let now = await db.clock.now(); now < end; now = await db.clock.now()) {
    const [next] = await app.owner<{ run_at: Date }[]>`
      select run_at from work where tenant_id = ${story.tenantId}
        and kind in ('send', 'weekly_report') order by run_at limit 1`
    const due = next ? next.run_at.getTime() + 1_000 : end
    await db.clock.pass(Math.max(0, Math.min(8 * HOUR, due - now, end - now)))
    await quiet()
  }
}

/**
 * An account whose readers clearly prefer posts that end with a question; in the sandbox each
 * account's readers have their own taste.
 */
const accountLikingQuestions = async (): Promise<void> => {
  const liking = (accountId: string): number => {
    const seen = (text: string) => sandboxMetrics({ accountId, postId: '1', text, ageMs: 7 * DAY })
    const rate = (text: string) => seen(text).likes / seen(text).impressions
    return rate('The same words for all?') / rate('The same words for all.')
  }
  for (;;) {
    const account = await app.workplace.sandbox.connect(story.tenantId, `loopline-${newId()}`)
    if (liking(account.externalId) < 2) continue
    await connectAccount(app.workplace.world, story.tenantId, { network: 'sandbox', ...account })
    const { connections } = await call('GET', 'connections')
    const { id } = connections.find(({ handle }: { handle: string }) => handle === account.handle)
    return call('POST', `connections/${id}/default`)
  }
}

const batchOf = async (
  body: object,
): Promise<{ id: string; body: string; learnings: string[]; arm: string | null }[]> => {
  const { batch } = await call('POST', 'batches', body)
  const settled = await eventually(
    async () => (await call('GET', `batches/${batch.id}`)).batch,
    ({ status }) => status === 'ready' || status === 'failed',
  )
  expect([settled.status, settled.error]).toEqual(['ready', null])
  return settled.items
}

const approveAndSchedule = async (id: string, edited_body?: string): Promise<void> => {
  await call('POST', `items/${id}/approve`, edited_body === undefined ? {} : { edited_body })
  await call('POST', `items/${id}/schedule`, { post_at: 'next_slot' })
}

/** Texts that are alike in every respect that readers of the sandbox care about. */
const texts = ['support', 'sales', 'product', 'finance', 'design', 'research'].flatMap((team) =>
  [
    'a ticket that came back',
    'a call that nobody took',
    'a trial that ended early',
    'a demo without a next step',
    'a wish',
    'a bug',
  ].map(
    (thing) =>
      `The people in ${team} read ${thing} aloud at the start of each week, and whoever had touched it last says in a sentence what the customer was after and what we made of that.`,
  ),
)
const endsOnQuestion = ({ body }: { body: string }): boolean => /\?\s*$/.test(body)
const kinds = async (): Promise<string[]> =>
  (await call('GET', 'brief')).brief.actions.map(({ kind }: { kind: string }) => kind)

describe('a month', () => {
  test('brings posts, metrics, an audit, better drafts, an experiment and weekly reports', async () => {
    await accountLikingQuestions()
    const { goal, audience, voice, writing_dna } = softwareProfile
    await call('PUT', 'profile', { goal, audience, voice, writing_dna, time_zone: 'Europe/Berlin' })

    // Two weeks of two posts a working day; the person who approves them turns every other one into
    // a question.
    const drafts = await batchOf({ count: 5, focus: 'onboarding' })
    expect(await kinds()).toContain('approve_posts')
    for (const [n, text] of texts.slice(0, 20).entries()) {
      const id = n < drafts.length ? drafts[n]!.id : await story.drafted()
      await approveAndSchedule(id, n % 2 === 0 ? text : `${text} Is it so with you?`)
    }
    await passTo(16 * DAY)
    const posted = (await call('GET', 'items?status=posted&limit=100')).items
    expect(posted).toHaveLength(20)
    expect(Object.values(await story.posts())).toEqual(Array.from(posted, () => 1))
    for (const { metrics } of posted) expect(metrics.impressions).toBeGreaterThan(0)

    // The finding becomes a learning, and the next batch follows it.
    expect(await kinds()).toContain('run_audit')
    const { audit } = await call('POST', 'audits', {})
    const { result } = await eventually(
      async () => (await call('GET', `audits/${audit.id}`)).audit,
      ({ status }) => status === 'ready',
    )
    const claim = result.worked.find(
      ({ dimension }: { dimension: string }) => dimension === 'question',
    )
    expect(claim).toMatchObject({ value: 'yes', group: { n: 10 }, rest: { n: 10 } })
    expect(claim.item_ids.length).toBeGreaterThan(0)
    const { learnings } = await call('GET', 'learnings?status=active&kind=worked')
    const learning = learnings.find(({ audit_id }: { audit_id: string }) => audit_id === audit.id)
    expect(learning.evidence).toEqual(claim.item_ids)
    const taught = await batchOf({ count: 5, focus: 'pricing' })
    const heeded = taught.filter((item) => item.learnings.includes(learning.id))
    expect(heeded.length).toBeGreaterThan(0)
    expect(heeded.some(endsOnQuestion)).toBeTrue()
    await call('POST', `learnings/${learning.id}/retire`)
    const untaught = await batchOf({ count: 3, focus: 'support' })
    for (const item of untaught) expect(item.learnings).not.toContain(learning.id)

    // An experiment for the other two weeks, with eight posts an arm.
    const { experiment } = await call('POST', 'experiments', {
      name: 'Ask at the end',
      hypothesis: 'Posts that end on a question get more engagement',
      arms: [{ name: 'control' }, { name: 'question', note: 'End on a question' }],
    })
    const arms: Record<string, string[]> = { control: [], question: [] }
    for (const focus of [
      'demos',
      'tickets',
      'trials',
      'pricing',
      'hiring',
      'support',
      'activation',
      'sales',
    ])
      for (const { id, arm } of await batchOf({ count: 2, focus, experiment_id: experiment.id }))
        arms[arm!]!.push(id)
    expect([arms.control!.length, arms.question!.length]).toEqual([8, 8])
    for (const [n, id] of arms.control!.entries()) {
      await approveAndSchedule(id, texts[20 + n])
      await approveAndSchedule(arms.question![n]!, `${texts[28 + n]} Would you agree?`)
    }
    expect(await kinds()).not.toContain('conclude_experiment')
    await passTo(30 * DAY)
    expect(await kinds()).toContain('conclude_experiment')
    const concluded = (
      await call('POST', `experiments/${experiment.id}/conclude`, {
        result: 'Supported: we end on a question',
      })
    ).experiment
    const { status, result: verdict, comparison } = concluded
    expect([status, verdict]).toEqual(['concluded', 'Supported: we end on a question'])
    expect(comparison.arms.map(({ arm, n }: { arm: string; n: number }) => [arm, n])).toEqual([
      ['control', 8],
      ['question', 8],
    ])
    const [difference] = comparison.against_control
    expect(difference).toMatchObject({
      arm: 'question',
      reading: 'higher',
      effect_size: expect.any(Number),
    })
    expect(difference.interval.low).toBeGreaterThan(0)

    // A report every Monday at seven in Berlin, the newest first.
    const { reports } = await call('GET', 'reports')
    expect(
      reports.map(({ week, origin, status }: Record<string, string>) => [week, origin, status]),
    ).toEqual(
      ['2026-06-22', '2026-06-15', '2026-06-08', '2026-06-01'].map((week) => [
        week,
        'automatic',
        'ready',
      ]),
    )
    for (const { markdown } of reports) expect(markdown).toStartWith('#')
    expect(Object.values(await story.posts()).every((times) => times === 1)).toBeTrue()
  }, 120_000)
})
