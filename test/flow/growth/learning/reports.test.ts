/**
 * Weekly reports over HTTP: on request, and by themselves as the tests step the clock through
 * weeks.
 */
import { beforeEach, describe, expect, test } from 'bun:test'
import { eventually } from '#test/support/app'
import { steppedDb } from '#test/support/database/clock'
import { setPlan } from '#test/support/database/writes'
import { insertPosted } from '#test/support/growth/posted'
import { newStory, type Story } from '#test/support/growth/story'
import { use, useApp, useSharedApp } from '#test/support/use'

const HOUR = 3_600_000
const DAY = 24 * HOUR

interface Report {
  id: string
  status: string
  origin: string
  week: string
  error: string | null
  time_zone: string
  markdown: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into all of it
  data: any
}

const listed = async (story: Story): Promise<Report[]> =>
  (await story.send('GET', 'reports')).body.reports
const isDone = ({ status }: Report) => status === 'ready' || status === 'failed'
const requestReport = async (story: Story, body: object = {}): Promise<Report> => {
  const { status, body: created } = await story.send('POST', 'reports', { body })
  expect([status, created.report?.status]).toEqual([201, 'queued'])
  const all = await eventually(
    () => listed(story),
    (reports) => reports.some((one) => one.id === created.report.id && isDone(one)),
  )
  return all.find(({ id }) => id === created.report.id)!
}

describe('a report on request', () => {
  const app = useSharedApp()

  /** A post, with snapshots of its metrics at later times. */
  const counted = (
    { tenantId }: Story,
    postedAt: string,
    snapshots: [at: string, impressions: number, likes: number][],
  ) =>
    insertPosted(app, tenantId, {
      postedAt,
      counts: snapshots.map(([at, impressions, likes]) => ({ at, impressions, likes })),
    })

  test('shows each day and the change from the week before', async () => {
    const story = await newStory(app)
    const old = await counted(story, '2026-05-25T10:00:00Z', [
      ['2026-05-30T10:00:00Z', 400, 4],
      ['2026-06-03T10:00:00Z', 500, 5],
      ['2026-06-09T23:00:00Z', 900, 9],
    ])
    const best = await counted(story, '2026-06-09T09:00:00Z', [
      ['2026-06-09T12:00:00Z', 100, 10],
      ['2026-06-11T12:00:00Z', 250, 30],
      ['2026-06-20T12:00:00Z', 300, 33],
    ])
    const worst = await counted(story, '2026-06-14T23:30:00Z', [['2026-06-14T23:50:00Z', 50, 0]])
    const { data, markdown, week, error, origin } = await requestReport(story, {
      week: '2026-06-11',
    })
    expect({ week, error, origin }).toEqual({ week: '2026-06-08', error: null, origin: 'manual' })
    expect(data).toMatchObject({
      from: '2026-06-08T00:00:00.000Z',
      to: '2026-06-15T00:00:00.000Z',
      complete: true,
    })
    expect(data.totals).toEqual({
      posts: 2,
      impressions: 700,
      reactions: 34,
      clicks: 0,
      engagement_rate: 34 / 700,
    })
    expect(data.before).toMatchObject({ posts: 0, impressions: 100, reactions: 1 })
    expect(data.change).toMatchObject({ posts: null, impressions: 6 })
    expect(
      data.days.map(({ posts, impressions }: Record<string, number>) => [posts, impressions]),
    ).toEqual([
      [0, 0],
      [1, 500],
      [0, 0],
      [0, 150],
      [0, 0],
      [0, 0],
      [1, 50],
    ])
    expect([data.best.item_id, data.worst.item_id]).toEqual([best, worst])
    expect(data.best.item_id).not.toBe(old)
    expect(markdown).toContain('# Week of 2026-06-08 to 2026-06-14')
  })

  test("has days in the profile's time zone", async () => {
    const story = await newStory(app)
    await counted(story, '2026-06-07T20:00:00Z', [['2026-06-07T22:00:00Z', 100, 1]])
    const days = async () => (await requestReport(story, { week: '2026-06-08' })).data.days[0]
    expect(await days()).toMatchObject({ posts: 0, impressions: 0 })
    await story.send('PUT', 'profile', { body: { time_zone: 'Asia/Tokyo' } })
    expect(await days()).toMatchObject({ day: '2026-06-08', posts: 1, impressions: 100 })
  })

  test('says that a week was empty, and what is waiting', async () => {
    const story = await newStory(app)
    await story.drafted()
    const { data, markdown, time_zone } = await requestReport(story)
    expect(data.totals).toEqual({
      posts: 0,
      impressions: 0,
      reactions: 0,
      clicks: 0,
      engagement_rate: null,
    })
    expect([data.best, data.complete, data.waiting.approvals, time_zone]).toEqual([
      null,
      false,
      1,
      'UTC',
    ])
    expect(data.quotas.find(({ key }: { key: string }) => key === 'reports')).toMatchObject({
      used: 1,
    })
    expect(data.next.map(({ operation }: { operation: string }) => operation)).toContain(
      'growth.items.approve',
    )
    expect(markdown).toContain('A quiet week so far')
  })

  test('is refused for an invalid date or a future week', async () => {
    const story = await newStory(app)
    const field = async (week: string) =>
      (await story.send('POST', 'reports', { body: { week } })).body.error?.details?.[0]?.path
    for (const week of ['2026-02-30', '1999-01-01', '2999-01-01'])
      expect(await field(week)).toBe('week')
    expect(await listed(story)).toEqual([])
  })
})

describe('a weekly report', () => {
  const db = use(steppedDb)
  const app = useApp(() => ({ database: db.options, overrides: { idleMs: 30, sweepMs: 20 } }))
  // A Wednesday, so that the first Monday is near.
  beforeEach(() => db.clock.set(new Date('2027-01-06T12:00:00Z')))

  const withFirstPost = async (): Promise<Story> => {
    const story = await newStory(app)
    const id = await story.approved()
    expect((await story.send('POST', `items/${id}/post-now`)).status).toBe(200)
    return story
  }
  const dueOf = async ({ tenantId }: Story): Promise<Date | undefined> =>
    (
      await app.owner<
        { run_at: Date }[]
      >`select run_at from work where tenant_id = ${tenantId} and kind = 'weekly_report'`
    )[0]?.run_at
  /** The reports, once the weekly work has run by the stepped clock and its report is done. */
  const settledReports = async (story: Story): Promise<Report[]> => {
    const now = new Date(await db.clock.now())
    await eventually(
      () => dueOf(story),
      (due) => due !== undefined && due > now,
    )
    return eventually(
      () => listed(story),
      (all) => all.every(isDone),
    )
  }

  test('comes once, on Monday at seven, from the first post on', async () => {
    const story = await withFirstPost()
    await db.clock.pass(7 * HOUR)
    expect(await settledReports(story)).toEqual([])
    expect(await dueOf(story)).toEqual(new Date('2027-01-11T07:00:00Z'))
    await db.clock.set(new Date('2027-01-11T07:00:05Z'))
    const first = await settledReports(story)
    expect(first).toMatchObject([
      {
        week: '2027-01-04',
        origin: 'automatic',
        status: 'ready',
        data: { totals: { posts: 1 }, complete: true },
      },
    ])
    await db.clock.pass(DAY)
    expect(await settledReports(story)).toHaveLength(1)
    await db.clock.pass(7 * DAY)
    const second = await settledReports(story)
    expect(second.map(({ week }) => week)).toEqual(['2027-01-11', '2027-01-04'])
    expect(second[0]!.data.totals.posts).toBe(0)
  })

  test('also begins with a post that was marked as posted', async () => {
    const story = await newStory(app)
    const id = await story.approved()
    expect(await dueOf(story)).toBeUndefined()
    expect((await story.send('POST', `items/${id}/posted`)).status).toBe(200)
    await db.clock.pass(7 * HOUR)
    expect(await settledReports(story)).toEqual([])
    expect(await dueOf(story)).toEqual(new Date('2027-01-11T07:00:00Z'))
  })

  test('of the weeks that passed while the server was down only the last one comes', async () => {
    const story = await withFirstPost()
    await settledReports(story)
    await db.clock.pass(25 * DAY)
    expect((await settledReports(story)).map(({ week }) => week)).toEqual(['2027-01-18'])
  })

  test("follows the profile's time zone", async () => {
    const story = await withFirstPost()
    await settledReports(story)
    await story.send('PUT', 'profile', { body: { time_zone: 'America/New_York' } })
    await eventually(
      () => dueOf(story),
      (due) => due?.toISOString() === '2027-01-11T12:00:00.000Z',
    )
    await db.clock.set(new Date('2027-01-11T12:00:05Z'))
    expect(await settledReports(story)).toMatchObject([
      { week: '2027-01-04', time_zone: 'America/New_York' },
    ])
    // Further west Monday comes again an hour later, but this week has its report.
    await story.send('PUT', 'profile', { body: { time_zone: 'America/Los_Angeles' } })
    await db.clock.pass(DAY)
    expect(await settledReports(story)).toHaveLength(1)
  })

  test('that the plan refuses fails with the reason, and the next try is a week later', async () => {
    const story = await withFirstPost()
    await settledReports(story)
    await setPlan(app, story.tenantId, { billing: 'trial_expired' })
    await db.clock.set(new Date('2027-01-11T07:00:05Z'))
    const skipped = await settledReports(story)
    expect(skipped).toMatchObject([
      { week: '2027-01-04', status: 'failed', error: 'plan_invalid:trial_expired', data: null },
    ])
    await setPlan(app, story.tenantId, { billing: 'ok' })
    await db.clock.pass(DAY)
    expect(await settledReports(story)).toHaveLength(1)
    await db.clock.pass(6 * DAY)
    expect((await settledReports(story)).map(({ week, status }) => `${week} ${status}`)).toEqual([
      '2027-01-11 ready',
      '2027-01-04 failed',
    ])
  })

  test('waits while automation is paused', async () => {
    const story = await withFirstPost()
    await settledReports(story)
    await story.send('POST', 'automation/pause-all')
    await db.clock.set(new Date('2027-01-12T07:00:05Z'))
    // A manual report is made all the same; other due work would have run before it.
    expect((await requestReport(story)).origin).toBe('manual')
    expect(await listed(story)).toHaveLength(1)
    await story.send('POST', 'automation/resume-all')
    expect((await settledReports(story)).map(({ origin }) => origin)).toEqual([
      'automatic',
      'manual',
    ])
  })
})
