import { describe, expect, test } from 'bun:test'
import type { Draft, DraftBrief } from '#domain/growth/drafting/draft'
import { containsPhrase } from '#domain/growth/drafting/phrase'
import { emptyProfile, type Profile } from '#domain/growth/drafting/profile'
import { createComposer } from '#port/model/composer/composer'
import { GenerationError } from '#port/model/drafter'
import { briefWith, neverAborts } from '#test/support/briefs'
import { fullBrief, fullProfile, hardBriefs } from './largest-profile.ts'

/** Counts turns of the event loop until it is stopped. */
const countTurns = () => {
  const counted = { turns: 0, stopped: false }
  const turn = () => {
    if (counted.stopped) return
    counted.turns += 1
    setImmediate(turn)
  }
  setImmediate(turn)
  return counted
}

interface Run {
  /** Empty when the composer said that it can draft nothing. */
  drafts: Draft[]
  turns: number
  /** Lengths that were asked for in all, and between two turns at most. */
  measured: number
  measuredAtOnce: number
}

/** Drafts with a turn of the event loop after each step. */
const runStepwise = async (brief: DraftBrief): Promise<Run> => {
  const loop = countTurns()
  const run: Run = { drafts: [], turns: 0, measured: 0, measuredAtOnce: 0 }
  let turn = 0
  let atOnce = 0
  const measure = (text: string) => {
    atOnce = turn === loop.turns ? atOnce + 1 : 1
    turn = loop.turns
    run.measured += 1
    run.measuredAtOnce = Math.max(run.measuredAtOnce, atOnce)
    return brief.measure(text)
  }
  try {
    run.drafts = (await createComposer({ sliceMs: 0 }).draft({ ...brief, measure }, neverAborts())).drafts
  } catch (cause) {
    if (!(cause instanceof GenerationError)) throw cause
  }
  loop.stopped = true
  run.turns = loop.turns
  return run
}

const draftsOf = async (changes: Partial<DraftBrief>): Promise<Draft[]> =>
  (await createComposer().draft(briefWith(changes), neverAborts())).drafts

const withDna = (dna: Partial<Profile['writing_dna']>): Profile => ({
  ...emptyProfile,
  writing_dna: { ...emptyProfile.writing_dna, ...dna },
})

describe('the largest profiles that the contract allows', () => {
  test.each(Object.keys(hardBriefs))('%s: the batch settles, the event loop turns meanwhile, and the work is bounded', async (name) => {
    const brief = hardBriefs[name]?.() ?? briefWith()
    const { drafts, turns, measured, measuredAtOnce } = await runStepwise(brief)
    expect(turns).toBeGreaterThan(500)
    expect(turns).toBeLessThan(10_000)
    expect(measured).toBeLessThan(4_000)
    expect(measuredAtOnce).toBeLessThan(400)
    for (const { body } of drafts) {
      expect(brief.measure(body)).toBeLessThanOrEqual(brief.maxLength)
      for (const phrase of brief.profile.writing_dna.avoid) expect(containsPhrase(body, phrase)).toBeFalse()
    }
  })

  test('a full profile yields a full batch', async () => {
    expect((await runStepwise(fullBrief())).drafts).toHaveLength(20)
  })

  test('the drafts are the same however the work is cut into slices', async () => {
    const brief = fullBrief()
    const { drafts } = await runStepwise(brief)
    expect((await createComposer({ sliceMs: Number.POSITIVE_INFINITY }).draft({ ...brief }, neverAborts())).drafts).toEqual(drafts)
    expect((await createComposer().draft({ ...brief }, neverAborts())).drafts).toEqual(drafts)
  })

  test('an abort in the middle stops the work at the next step', async () => {
    const controller = new AbortController()
    const reason = new Error('the batch was cancelled')
    const loop = countTurns()
    const drafting = createComposer({ sliceMs: 0 }).draft(fullBrief(), controller.signal)
    const settled = drafting.then(
      () => 'drafted',
      (cause) => cause,
    )
    while (loop.turns < 100) await new Promise(setImmediate)
    controller.abort(reason)
    expect(await settled).toBe(reason)
    loop.stopped = true
    expect(loop.turns).toBeLessThan(110)
  })

  test('batches that are composed side by side take turns', async () => {
    const composer = createComposer({ sliceMs: 0 })
    const order: string[] = []
    const compose = async (seed: string, count: number) => {
      await composer.draft(fullBrief({ seed, count }), neverAborts())
      order.push(seed)
    }
    await Promise.all([compose('twenty', 20), composer.draft(briefWith({ count: 1 }), neverAborts()).then(() => order.push('small'))])
    expect(order).toEqual(['small', 'twenty'])
  })
})

describe('what is read of a large profile', () => {
  const others = Array.from(
    { length: 99 },
    (_, index) => `Last spring we lost ${index + 20} plates to the rain, and ${index} more to the cat.`,
  )

  test('of more stories than are used, those on the focus are used', async () => {
    const stories = [...others, 'The old boiler broke in January and nobody noticed for nine days.']
    for (const seed of ['a', 'b', 'c', 'd', 'e']) {
      const [first] = await draftsOf({ profile: withDna({ stories }), focus: 'the old boiler', count: 1, seed })
      expect(first?.body).toMatch(/boiler/i)
    }
  })

  test('a story is found where the avoid list rules out ninety-nine others', async () => {
    const stories = [...others, 'The old boiler broke in January and nobody noticed for nine days.']
    const drafts = await draftsOf({ profile: withDna({ stories, avoid: ['plates'] }) })
    expect(drafts.map(({ body }) => body).join()).toContain('The old boiler broke in January')
  })

  test('which stories are used depends on the seed', async () => {
    const bodies = async (seed: string) =>
      (await draftsOf({ profile: withDna({ stories: others }), count: 20, seed })).map(({ body }) => body)
    expect(await bodies('one')).not.toEqual(await bodies('two'))
  })

  test('a story too long to be read whole is told with the ending that it has', async () => {
    const middle = 'We tried another glaze, and it ran off the mug again. '.repeat(33)
    const stories = Array.from(
      { length: 100 },
      (_, index) => `We lost load ${index} to a cold kiln. ${middle}Load ${index} taught me to wait until noon.`,
    )
    const drafts = (await Promise.all(['a', 'b', 'c'].map((seed) => draftsOf({ profile: withDna({ stories }), count: 20, seed })))).flat()
    const reversals = drafts.filter(({ format }) => format === 'reversal')
    expect(reversals.length).toBeGreaterThan(0)
    for (const { body } of reversals) expect(body).toMatch(/^Load \d+ taught me to wait until noon\./)
  })

  test('what is cut off in the middle of a sentence is not posted', async () => {
    const { drafts } = await runStepwise(fullBrief())
    const sentences = new Set(fullProfile().writing_dna.stories.flatMap((story) => story.split(/(?<=\.) /)))
    const told = drafts.flatMap(({ body }) => body.split(/\n+|(?<=\.) /)).filter((text) => /^(?:We lost|I used to|Now every)/.test(text))
    expect(told.length).toBeGreaterThan(0)
    expect(told.filter((text) => !sentences.has(text))).toEqual([])
  })

  test('where every sentence is too long for a post it says so', async () => {
    const stories = Array.from({ length: 100 }, (_, index) => `We ${'really '.repeat(250)}tried ${index}.`)
    await expect(draftsOf({ profile: withDna({ stories }) })).rejects.toThrow('280 characters')
  })
})
