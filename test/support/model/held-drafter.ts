/** A drafter that writes only when a test lets it. */

import { afterAll, beforeEach } from 'bun:test'
import { MOST_BATCH_POSTS } from '#domain/growth/drafting/batch'
import {
  type ArticleBrief,
  type ArticleSet,
  type Draft,
  type DraftBrief,
  type DraftSet,
  noUsage,
  type ReplyBrief,
  type ReplySet,
} from '#domain/growth/drafting/draft'
import type { Drafter } from '#port/model/drafter'
import { type Gate, newGate } from '../actors/letters.ts'

export interface HeldDrafter {
  drafter: Drafter
  /**
   * Resolves when `calls` calls have begun, of all or of those with this focus, topic or
   * instruction.
   */
  begun(calls: number, about?: string): Promise<void>
  /** Lets waiting and later calls write. */
  release(): void
  /** Makes later calls wait again. */
  hold(): void
  /** Focuses, topics and instructions of aborted calls. */
  aborted: string[]
}

const draftOf = ({ seed }: DraftBrief, index: number): Draft => ({
  body: `Draft ${index} of ${seed}`,
  format: 'point',
  hook: 'none',
  rationale: 'for a test',
  stories: [],
  learnings: [],
})

const setOf = (brief: DraftBrief): DraftSet => ({
  drafts: Array.from({ length: brief.count }, (_, index) => draftOf(brief, index)),
  model: 'held',
  usage: { input_tokens: 0, output_tokens: 0, cost_micros: 0 },
})

const articleOf = ({ seed, topic, points }: ArticleBrief): ArticleSet => ({
  article: {
    title: `On ${topic}`,
    text: [...points, `Article of ${seed}`].join('\n\n'),
    rationale: 'for a test',
    stories: [],
    learnings: [],
  },
  model: 'held',
  usage: { input_tokens: 0, output_tokens: 0, cost_micros: 0 },
})

const replyOf = ({ seed }: ReplyBrief): ReplySet => ({
  reply: { body: `Reply of ${seed}`, rationale: 'for a test' },
  model: 'held',
  usage: { input_tokens: 0, output_tokens: 0, cost_micros: 0 },
})

/** `atOnce`: how many posts it writes with each call. */
export const heldDrafter = (atOnce = MOST_BATCH_POSTS): HeldDrafter => {
  const aborted: string[] = []
  const calls: string[] = []
  let [gate, nextCall]: [Gate, Gate] = [newGate(), newGate()]
  const allowed = async (about: string, signal: AbortSignal): Promise<void> => {
    calls.push(about)
    nextCall.open()
    nextCall = newGate()
    const { promise: stopped, reject } = Promise.withResolvers<never>()
    const stop = () => {
      aborted.push(about)
      reject(signal.reason)
    }
    signal.throwIfAborted()
    signal.addEventListener('abort', stop)
    await Promise.race([gate.opened, stopped]).finally(() =>
      signal.removeEventListener('abort', stop),
    )
  }
  const draft: Drafter['draft'] = async (brief, signal) => {
    await allowed(brief.focus, signal)
    return setOf(brief)
  }
  const article: Drafter['article'] = async (brief, signal) => {
    await allowed(brief.topic, signal)
    return articleOf(brief)
  }
  const reword: Drafter['reword'] = async (sentences, signal) => {
    await allowed('wording', signal)
    return { sentences: sentences.map((one) => `Said: ${one}`), model: 'held', usage: noUsage }
  }
  const reply: Drafter['reply'] = async (brief, signal) => {
    await allowed(brief.instruction, signal)
    return replyOf(brief)
  }
  return {
    drafter: { name: 'held', atOnce, draft, article, reword, reply },
    async begun(count, about) {
      while (calls.filter((one) => about === undefined || one === about).length < count)
        await nextCall.opened
    },
    release: () => gate.open(),
    hold: () => {
      gate = newGate()
    },
    aborted,
  }
}

/** A drafter that writes at once, whatever the profile. */
export const writingDrafter = (): Drafter => {
  const { drafter, release } = heldDrafter()
  release()
  return drafter
}

/**
 * A drafter for an app that the tests of a file share. It is held again at the start of each test.
 */
export const heldInEachTest = (): HeldDrafter & { failWith(cause: Error): void } => {
  let current = heldDrafter()
  beforeEach(() => {
    current.release()
    current = heldDrafter()
  })
  afterAll(() => current.release())
  return {
    drafter: {
      name: 'held',
      atOnce: MOST_BATCH_POSTS,
      draft: (...args) => current.drafter.draft(...args),
      article: (...args) => current.drafter.article(...args),
      reword: (...args) => current.drafter.reword(...args),
      reply: (...args) => current.drafter.reply(...args),
    },
    /** For the rest of this test every call fails with `cause`. */
    failWith(cause) {
      const fail = () => Promise.reject(cause)
      current.drafter = {
        name: 'held',
        atOnce: MOST_BATCH_POSTS,
        draft: fail,
        article: fail,
        reword: fail,
        reply: fail,
      }
    },
    begun: (calls, about) => current.begun(calls, about),
    release: () => current.release(),
    hold: () => current.hold(),
    get aborted() {
      return current.aborted
    },
  }
}
