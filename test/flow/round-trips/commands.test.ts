/** The statements of each command, and of the work that it starts. */
import { expect, test } from 'bun:test'
import { type NamedOp, pathParams, readsOnly } from '#contract/op'
import { newId } from '#kernel/ids'
import { withBluesky } from '#test/support/contract/app'
import {
  call,
  legalInput,
  newWorkspace,
  usualOperations,
  type Workspace,
} from '#test/support/contract/prepare'
import { sampleOf } from '#test/support/contract/sample'
import { expectHints, hintedNames } from '#test/support/database/heard-hints'
import { type Cost, countedApp, expectCost, namesOf } from '#test/support/database/round-trips'
import { newStory } from '#test/support/growth/story'
import { use } from '#test/support/use'

const counted = use(() =>
  withBluesky(
    (env) => countedApp({ env }),
    ({ app }) => app,
  ),
)

const commands = usualOperations.filter((o) => !readsOnly(o))
const named = (id: string): NamedOp => commands.find((o) => o.id === id)!

/** A change of nothing writes nothing: where no field is needed, all are given. */
const extentOf = (o: NamedOp) =>
  Object.keys(sampleOf(o, 'needed')).length > pathParams(o.path).length ? 'needed' : 'whole'

const sending = async (
  workspace: Workspace & { headers?: Record<string, string> },
  o: NamedOp,
  input: Record<string, unknown>,
) =>
  counted.cost(async () => {
    const { status, text } = await call(workspace, o, input)
    expect({ status, text }).toEqual({ status: o.status, text })
  })

/** With the whole input, a call of some operations includes another: here it does not. */
const costOf = async (o: NamedOp, includes = false): Promise<Cost> => {
  const workspace = await newWorkspace(counted.app)
  const input = await legalInput(workspace, o, extentOf(o))
  if (o.includes) input[o.includes.field] = includes
  return sending(workspace, o, input)
}

/** Commands that write nothing, though they use what only commands may. */
const CHANGES_NOTHING = ['growth.items.preview']

test.each(commands.map((o) => [o.id, o] as const))('%s', async (id, o) => {
  const cost = await costOf(o)
  expectCost('commands', id, cost)
  expectHints('commands', id, cost)
  if (!CHANGES_NOTHING.includes(id)) expect(cost.hints).not.toEqual([])
})

const post = async (path: string, body?: object, status = 200) => {
  const story = await newStory(counted.app)
  const id = path.endsWith('/approve') ? await story.drafted() : await story.approved()
  return counted.cost(async () =>
    expect((await story.send('POST', path.replace('ID', id), body && { body })).status).toBe(
      status,
    ),
  )
}

const withKey = async (): Promise<{ first: Cost; replay: Cost }> => {
  const workspace = { ...(await newWorkspace(counted.app)), headers: { 'idempotency-key': 'key' } }
  const o = named('growth.products.create')
  const input = await legalInput(workspace, o)
  return { first: await sending(workspace, o, input), replay: await sending(workspace, o, input) }
}

const others: Record<string, () => Promise<Cost>> = {
  'growth.items.approve of a post': () => post('items/ID/approve', {}),
  'growth.items.approve with another text': () =>
    post('items/ID/approve', { edited_body: 'Another text' }),
  'growth.items.schedule for the next slot': () =>
    post('items/ID/schedule', { post_at: 'next_slot' }),
  'growth.items.reject of an approved post, which is refused': () =>
    post('items/ID/reject', {}, 409),
  'growth.items.approve of an unknown id': () => post(`items/${newId()}/approve`, {}, 404),
  'growth.engagements.approve with execute': () =>
    costOf(named('growth.engagements.approve'), true),
  'growth.products.create under an Idempotency-Key': async () => (await withKey()).first,
  'growth.products.create replayed': async () => (await withKey()).replay,
}

test.each(Object.entries(others))('%s', async (name, cost) =>
  expectCost('commands', name, await cost()),
)

test('every command has its cost and its hints in the tables', () => {
  expect(hintedNames('commands').sort()).toEqual(commands.map(({ id }) => id).sort())
  expect(namesOf('commands').sort()).toEqual(
    [...commands.map(({ id }) => id), ...Object.keys(others)].sort(),
  )
})
