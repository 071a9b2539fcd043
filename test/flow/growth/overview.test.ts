/**
 * The overview: the head of long lists, with cursors to the rest; and profile fields by the API
 * document's names.
 */
import { expect, test } from 'bun:test'
import { cli } from '#test/support/cli/host'
import { newStory, type Story } from '#test/support/growth/story'
import { connectMcp } from '#test/support/mcp/mcp'
import { useSharedApp } from '#test/support/use'

const app = useSharedApp()

const overviewOf = async ({ send }: Story) => (await send('GET', 'overview')).body.overview
const idsOf = (records: { id: string }[]): string[] => records.map(({ id }) => id)

test('shows the totals of drafts and learnings, and cursors to the rest', async () => {
  const story = await newStory(app)
  const [drafts, notes]: [string[], string[]] = [[], []]
  for (let count = 0; count < 60; count++) drafts.unshift(await story.drafted())
  await story.approved()
  for (let count = 0; count < 30; count++) {
    const { learning } = (
      await story.send('POST', 'learnings', { body: { kind: 'worked', note: `Note ${count}` } })
    ).body
    notes.unshift(learning.id)
  }
  await story.send('POST', `learnings/${notes.pop()}/retire`)
  const overview = await overviewOf(story)
  expect([overview.drafted_total, overview.learnings_total]).toEqual([60, 29])
  expect(idsOf(overview.drafted)).toEqual(drafts.slice(0, 25))
  expect(idsOf(overview.learnings)).toEqual(notes.slice(0, 25))
  const rest = await story.send(
    'GET',
    `items?status=drafted&limit=100&cursor=${overview.drafted_next_cursor}`,
  )
  expect([idsOf(rest.body.items), rest.body.next_cursor]).toEqual([drafts.slice(25), null])
  const more = await story.send(
    'GET',
    `learnings?status=active&cursor=${overview.learnings_next_cursor}`,
  )
  expect([idsOf(more.body.learnings), more.body.next_cursor]).toEqual([notes.slice(25), null])
})

test.each([0, 25])('has no cursors if all %i are shown', async (count) => {
  const story = await newStory(app)
  for (let made = 0; made < count; made++) await story.drafted()
  const overview = await overviewOf(story)
  expect([overview.drafted.length, overview.drafted_total, overview.drafted_next_cursor]).toEqual([
    count,
    count,
    null,
  ])
  expect([overview.learnings, overview.learnings_total, overview.learnings_next_cursor]).toEqual([
    [],
    0,
    null,
  ])
})

test('writing_dna.voice is accepted, and shown beside voice_rules, on every surface', async () => {
  const story = await newStory(app)
  const put = (writing_dna: object) => story.send('PUT', 'profile', { body: { writing_dna } })
  const both = (voice: string[]) => ({ voice, voice_rules: voice })
  expect((await put({ voice: ['Dry.'] })).body.profile.writing_dna).toMatchObject(both(['Dry.']))
  expect((await put({ voice_rules: ['Short.'] })).body.profile.writing_dna).toMatchObject(
    both(['Short.']),
  )
  expect((await overviewOf(story)).profile.writing_dna).toMatchObject(both(['Short.']))
  const whole = (await overviewOf(story)).profile.writing_dna
  expect((await put(whole)).body.profile.writing_dna).toEqual(whole)
  const refused = await put({ voice: ['Dry.'], voice_rules: ['Short.'] })
  expect([refused.status, refused.body.error.code, refused.body.error.details[0].path]).toEqual([
    400,
    'invalid_input',
    'writing_dna.voice',
  ])
  await using mcp = await connectMcp(app.url, { key: story.key })
  const { structuredContent } = await mcp.call('growth_update_profile', {
    writing_dna: { voice: ['By an agent.'] },
  })
  expect(structuredContent).toMatchObject({ profile: { writing_dna: both(['By an agent.']) } })
  const credentials = ['--api-url', app.url, '--api-key', story.key]
  const { code, out } = await cli([
    'profile',
    'update',
    '--writing-dna.voice',
    'By hand.',
    '--json',
    ...credentials,
  ])
  expect([code, JSON.parse(out).profile.writing_dna]).toMatchObject([0, both(['By hand.'])])
})

test('says how much there is, what is due next, what writes drafts and what is left of the quotas', async () => {
  const story = await newStory(app)
  const before = await overviewOf(story)
  const none = {
    drafted: 0,
    approved: 0,
    scheduled: 0,
    publishing: 0,
    posted: 0,
    rejected: 0,
    publish_failed: 0,
    publish_unconfirmed: 0,
  }
  expect(before.counts).toEqual({ ...none, review: 0, engagements: 0, signals: 0, due_in_24h: 0 })
  expect(before).toMatchObject({ paused: false, drafter: 'composer', next_due: [] })
  await story.drafted()
  await story.approved()
  const ids: string[] = []
  for (const hours of [30, 3, 2, 1]) ids.unshift(await story.scheduled(hours * 3_600_000))
  await story.send('POST', `items/${await story.approved()}/post-now`)
  await story.send('POST', 'automation/pause-all')
  const { counts, paused, next_due, quotas } = await overviewOf(story)
  expect([counts, paused]).toEqual([
    {
      ...none,
      drafted: 1,
      approved: 5,
      scheduled: 4,
      posted: 1,
      review: 0,
      engagements: 0,
      signals: 0,
      due_in_24h: 3,
    },
    true,
  ])
  expect(idsOf(next_due)).toEqual(ids.slice(0, 3))
  expect(next_due[0]).toEqual({
    id: ids[0],
    title: expect.stringContaining(ids[0]!),
    post_at: expect.any(String),
  })
  const posts = quotas.find(({ key }: { key: string }) => key === 'posts')
  expect(posts).toEqual({
    key: 'posts',
    left: posts.limit,
    limit: posts.limit,
    resets_at: expect.any(String),
  })
})
