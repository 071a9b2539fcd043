import { describe, expect, test } from 'bun:test'
import type { Item } from '#domain/growth/drafting/item'
import {
  approve,
  markPosted,
  postedEvent,
  reject,
  requestAgain,
  requestPost,
  schedule,
  unschedule,
} from '#domain/growth/drafting/item-moves'
import { itemStates } from '#domain/growth/drafting/item-states'
import { itemView } from '#domain/growth/drafting/item-view'
import { post } from '#domain/growth/sending/post'
import { claim } from '#domain/growth/sending/send'
import { errorOf } from '#test/domain/errors'
import {
  ACCOUNT,
  at,
  DAY,
  draftedItem,
  HOUR,
  itemIn,
  stateName,
  stateNames,
} from '#test/domain/records'
import { type Command, commands, transitions } from '#test/domain/transitions'

const now = at(5_000)
const approval = {
  accountExternalId: ACCOUNT as string | null,
  measure: (text: string) => text.length,
  maxLength: 280,
  now,
}
const timing = { postAt: at(2 * HOUR), onMissed: null, now }

const run: Record<Command, (item: Item) => Item | 'approval_stale'> = {
  approve: (item) => approve(item, approval),
  reject: (item) => reject(item, 'too dry', now),
  schedule: (item) => schedule(item, timing),
  unschedule: (item) => unschedule(item, now),
  post: (item) => requestPost(item, now),
  'post again': (item) => requestAgain(item, { by: 'session', now }),
  'mark posted': (item) => markPosted(item, undefined, now),
  'claim when due': (item) =>
    claim(post, item, { accountExternalId: ACCOUNT, origin: 'automatic', now }),
  'claim when asked': (item) =>
    claim(post, item, { accountExternalId: ACCOUNT, origin: 'manual', now }),
}

/** The name of each state in errors. */
const named = {
  drafted: 'drafted',
  approved: 'approved',
  scheduled: 'scheduled',
  publishing: 'publishing',
  posted: 'posted',
  rejected: 'rejected',
  publish_failed: 'publish_failed',
  publish_unconfirmed: 'publish_unconfirmed',
  'in review': 'publish_unconfirmed (in review)',
}

const wayOn = (id: string) => new RegExp(`^growth\\.items\\.[a-zA-Z]+ ${id}$`)

describe('the state table', () => {
  const cells = stateNames.flatMap((state) =>
    commands.map((command) => [state, command, transitions[state][command]] as const),
  )
  test.each(cells)('%s, %s: %s', (state, command, cell) => {
    const item = itemIn[state]
    if (cell === '409') {
      const error = errorOf(() => run[command](item))
      expect([error.code, error.status]).toEqual(['conflict', 409])
      expect(error.message).toStartWith(
        `cannot ${command.split(' when ')[0]}: the item is ${named[state]}`,
      )
      if (error.details)
        expect(error.details).toEqual([
          { path: 'next', message: expect.stringMatching(wayOn(item.id)) },
        ])
      return
    }
    const next = run[command](item) as Item
    expect(stateName(next)).toBe(cell)
    expect(next.updated_at).toEqual(now)
  })

  test.each(stateNames.map((state) => [state]))('%s has the name that errors use', (state) => {
    expect<string>(itemStates.stateOf(itemIn[state])).toBe(named[state])
  })

  test.each([['publish_unconfirmed'], ['in review']] as const)(
    '%s: posting again is refused with the advice to look at the timeline first',
    (state) => {
      expect(errorOf(() => requestPost(itemIn[state], now)).message).toEndWith(
        ' and may already be on the network; check there, and mark it posted if so',
      )
    },
  )
})

describe('approval', () => {
  test('keeps the body, measures it and binds it to the default account', () => {
    const next = approve({ ...draftedItem, last_error: 'approval_stale' }, approval)
    expect(next.approved_hash).toMatch(/^[0-9a-f]{64}$/)
    const unbound: Item = { ...next, approved_hash: null }
    expect(unbound).toEqual({
      ...draftedItem,
      status: 'approved',
      account_external_id: ACCOUNT,
      updated_at: now,
    })
  })

  test('takes an edited body in place of the draft', () => {
    expect(approve(draftedItem, { ...approval, editedBody: 'Edited.' })).toMatchObject({
      body: 'Edited.',
      length: 7,
    })
  })

  test.each([[''], [' '], ['\n\t \u00a0']])('refuses the blank edited body %j', (editedBody) => {
    const error = errorOf(() => approve(draftedItem, { ...approval, editedBody }))
    expect([error.code, error.status, error.message]).toEqual([
      'invalid_input',
      400,
      'edited_body is empty',
    ])
    expect(error.details).toEqual([{ path: 'edited_body', message: 'is empty' }])
  })

  test("refuses an edited body above the network's limit and takes one at the limit", () => {
    const doubled = { ...approval, measure: (text: string) => 2 * text.length, maxLength: 20 }
    const error = errorOf(() => approve(draftedItem, { ...doubled, editedBody: 'eleven char' }))
    expect([error.code, error.status]).toEqual(['invalid_input', 400])
    expect(error.details).toEqual([
      {
        path: 'edited_body',
        message: 'is 22 characters long as the network counts; the maximum is 20',
      },
    ])
    expect(approve(draftedItem, { ...doubled, editedBody: 'ten chars.' }).length).toBe(20)
  })

  test('names the body when an unedited draft is too long for the account', () => {
    const error = errorOf(() => approve(draftedItem, { ...approval, maxLength: 30 }))
    expect(error.message).toBe(
      'body is 31 characters long as the network counts; the maximum is 30',
    )
    expect(error.details?.map(({ path }) => path)).toEqual(['body'])
  })

  test('is a conflict in the wrong state, whatever the edited body', () => {
    expect(errorOf(() => approve(itemIn.posted, { ...approval, editedBody: '' })).code).toBe(
      'conflict',
    )
  })
})

describe('scheduling', () => {
  const scheduleAt = (ms: number) => () =>
    schedule(itemIn.approved, { ...timing, postAt: new Date(now.getTime() + ms) })

  test.each([
    ['a minute ago, for clocks differ', -60_000],
    ['now', 0],
    ['in two years', 730 * DAY],
  ])('takes a time %s', (_, ms) => {
    expect(scheduleAt(ms)().post_at).toEqual(new Date(now.getTime() + ms))
  })

  test.each([
    ['more than a minute ago', -60_001, `is in the past: it is now ${now.toISOString()}`],
    ['a year ago', -365 * DAY, `is in the past: it is now ${now.toISOString()}`],
    ['more than two years ahead', 730 * DAY + 1, 'is more than 730 days ahead'],
  ])('refuses a time %s', (_, ms, message) => {
    const error = errorOf(scheduleAt(ms))
    expect([error.code, error.status, error.message]).toEqual([
      'invalid_input',
      400,
      `post_at ${message}`,
    ])
    expect(error.details).toEqual([{ path: 'post_at', message }])
  })

  test('keeps the policy for a missed time, replaces an earlier one, and clears the last error', () => {
    const next = schedule(
      { ...itemIn.scheduled, last_error: 'missed' },
      { ...timing, onMissed: 'post' },
    )
    expect(next).toEqual({
      ...itemIn.scheduled,
      post_at: timing.postAt,
      on_missed: 'post',
      last_error: null,
      updated_at: now,
    })
    expect(schedule(next, timing).on_missed).toBeNull()
  })

  test('an item taken off the schedule keeps its approval and loses time and policy', () => {
    expect(unschedule(itemIn.scheduled, now)).toEqual({ ...itemIn.approved, updated_at: now })
  })

  test('an item to be posted now leaves the schedule', () => {
    expect(requestPost(itemIn.scheduled, now)).toEqual({ ...itemIn.publishing, updated_at: now })
  })
})

describe('rejecting and marking posted', () => {
  test('a rejection keeps its reason, or null', () => {
    expect(reject(draftedItem, 'too dry', now).reject_reason).toBe('too dry')
    expect(reject(draftedItem, undefined, now).reject_reason).toBeNull()
  })

  test.each([['approved'], ['scheduled'], ['publish_unconfirmed'], ['in review']] as const)(
    '%s, marked as posted',
    (state) => {
      const url = 'https://example.com/p/1'
      const next = markPosted(itemIn[state], url, now)
      const { approved_hash, account_external_id } = itemIn.approved
      expect(next).toEqual({
        ...draftedItem,
        approved_hash,
        account_external_id,
        status: 'posted',
        url,
        posted_at: now,
        updated_at: now,
      })
      expect(markPosted(itemIn[state], undefined, now).url).toBeNull()
    },
  )

  test('growth.item.posted names item, batch, post and time', () => {
    const event = postedEvent(markPosted(itemIn.approved, 'https://example.com/p/1', now))
    const data = {
      item_id: 'item-1',
      batch_id: 'batch-1',
      external_id: null,
      url: 'https://example.com/p/1',
      posted_at: now,
    }
    expect(event).toEqual({ type: 'growth.item.posted', data })
  })

  test('no surface shows the hash of the approval; the bound account is shown as account', () => {
    const view = itemView(itemIn.approved)
    expect(Object.keys(view)).not.toContain('approved_hash')
    expect(Object.keys(view)).not.toContain('account_external_id')
    expect(view.account).toBe(ACCOUNT)
  })
})
