/**
 * Posts that a network answered with a 5xx and returned, with helpers to cause and observe them.
 */
import { afterEach, expect } from 'bun:test'
import { type SendTimes, sendTimes } from '#domain/growth/sending/times'
import type { PublishResult } from '#port/network/network'
import { eventually } from '../app.ts'
import { makeDue } from '../database/writes.ts'
import { use, useApp } from '../use.ts'
import { type Story, textOf } from './story.ts'
import { type Loss, unreliable } from './unreliable.ts'

const times: SendTimes = { ...sendTimes, settleMs: 20, windowMs: 80 }

const serverError: PublishResult = { kind: 'unknown', reason: '503', cause: 'server_error' }
/** The network answers 5xx and does not apply the request. */
export const refused: Loss = async () => serverError
/** It answers 5xx, but has applied the request. */
export const applied: Loss = async (deliver) => {
  await deliver()
  return serverError
}

export const postNow = (story: Story, id: string, key = 'post it') =>
  story.send('POST', `items/${id}/post-now`, { headers: { 'idempotency-key': key } })
export const wake = (story: Story) => story.send('POST', 'automation/resume-all')

/** An app whose network fails as the tests of the file say. */
export const useReturns = () => {
  const app = useApp({ overrides: { times } })
  const network = use(() => Object.assign(unreliable(app), { async [Symbol.asyncDispose]() {} }))
  afterEach(() => {
    network.view = (timeline) => timeline
  })
  const attempts = async (id: string): Promise<string[]> =>
    (await app.owner`select state from attempt where item_id = ${id} order by number`).map(
      ({ state }) => state,
    )
  const sends = (text: string): number => network.sent.filter((one) => one === text).length
  /** Requests the post and returns once the item is in doubt, because the answer may take long. */
  const postUntilDoubt = async (story: Story, id: string, key?: string) => {
    const pending = postNow(story, id, key)
    return { pending, item: await story.settled(id, 'publish_unconfirmed') }
  }
  /**
   * Holds reads of timelines until it is disposed of, so that none ends a doubt before a test has
   * seen it.
   */
  const heldReads = (): Disposable => {
    const { view } = network
    const { promise, resolve } = Promise.withResolvers<void>()
    network.view = async (timeline, account) => {
      await promise
      return view(timeline, account)
    }
    return {
      [Symbol.dispose]() {
        network.view = view
        resolve()
      },
    }
  }
  const decided = (story: Story, id: string) =>
    eventually(
      () => story.item(id),
      ({ status, review }) => status === 'approved' || status === 'posted' || review,
    )
  /** Skips the wait for the next read of a returned post, which is watched for a day. */
  const readNow = (id: string) => makeDue(app, id, { kind: 'reconcile' })
  /** Pauses the watch over a returned post, so that a test decides what reads the timeline next. */
  const restWatch = (id: string) =>
    eventually(
      () =>
        app.owner`update work set run_at = now() + interval '1 hour' where ref_id = ${id}
          and kind = 'reconcile' and state = 'queued' returning id`,
      (rested) => rested.length === 1,
    )

  /** An item that got a 5xx, was never posted, and is approved again by itself. */
  const returned = async (story: Story): Promise<string> => {
    const id = await story.approved()
    network.answers.set(textOf(id), refused)
    const reply = await postNow(story, id)
    expect([reply.status, reply.body.error?.code]).toEqual([502, 'network_error'])
    return id
  }
  return {
    app,
    network,
    attempts,
    sends,
    postUntilDoubt,
    heldReads,
    decided,
    readNow,
    restWatch,
    returned,
  }
}
