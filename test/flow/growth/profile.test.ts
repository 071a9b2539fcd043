/** The growth profile and its versions, as two editors change it. */
import { expect, test } from 'bun:test'
import { testApp } from '#test/support/app'
import { freshDb } from '#test/support/database/db'
import { newStory } from '#test/support/growth/story'
import { use } from '#test/support/use'

const db = use(freshDb)
const app = use(() => testApp({ database: db.options }))

test('entries are added and removed, versions are kept, and the second of two editors is told of the first', async () => {
  const story = await newStory(app)
  const put = (body: Record<string, unknown>) => story.send('PUT', 'profile', { body })
  expect((await story.send('GET', 'profile')).body.profile.revision).toBe(0)
  const first = (
    await put({
      goal: 'Book demos',
      writing_dna: { stories: ['A story'], avoid: ['synergy'] },
      revision: 0,
    })
  ).body.profile
  expect(first).toMatchObject({
    revision: 1,
    goal: 'Book demos',
    writing_dna: { stories: ['A story'] },
  })
  const second = (
    await put({ revision: 1, add: { stories: ['Another'] }, remove: { avoid: ['synergy'] } })
  ).body.profile
  expect(second).toMatchObject({
    revision: 2,
    writing_dna: { stories: ['A story', 'Another'], avoid: [] },
  })
  const late = await put({ revision: 1, goal: 'Sell' })
  expect([late.status, late.body.error.code, late.body.error.details]).toEqual([
    409,
    'conflict',
    [
      { path: 'revision', message: '2' },
      { path: 'next', message: 'growth.profile.get' },
    ],
  ])
  expect((await put({ goal: 'Book demos' })).body.profile).toEqual(second)
  expect((await put({ remove: { avoid: ['synergy'] } })).body.error.details).toEqual([
    {
      path: 'remove.avoid[0]',
      message: 'is no entry of the list; give it exactly as it stands there',
    },
  ])
  const page = (await story.send('GET', 'profile/revisions?limit=1')).body
  expect(page.revisions).toMatchObject([
    {
      number: 2,
      changed: ['stories', 'avoid'],
      written_by: { kind: 'key' },
      profile: { goal: 'Book demos' },
    },
  ])
  const rest = (await story.send('GET', `profile/revisions?limit=1&cursor=${page.next_cursor}`))
    .body
  expect(rest).toMatchObject({
    revisions: [
      {
        number: 1,
        changed: ['goal', 'stories', 'avoid'],
        profile: { writing_dna: { avoid: ['synergy'] } },
      },
    ],
    next_cursor: null,
  })
  const details = await app.owner`select detail from audit where tenant_id = ${story.tenantId}
      and operation = 'growth.profile.update' order by id`
  expect(details.map(({ detail }) => detail.changed)).toEqual([
    ['goal', 'stories', 'avoid'],
    ['stories', 'avoid'],
    [],
  ])
})

test('fifty versions are kept', async () => {
  const story = await newStory(app)
  for (let number = 1; number <= 53; number++)
    await story.send('PUT', 'profile', { body: { goal: `Goal ${number}` } })
  const { revisions, next_cursor } = (await story.send('GET', 'profile/revisions?limit=100')).body
  expect(next_cursor).toBeNull()
  expect(revisions.map(({ number }: { number: number }) => number)).toEqual(
    Array.from({ length: 50 }, (_, index) => 53 - index),
  )
})
