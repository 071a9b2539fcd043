/**
 * Which openings both drafters use, and how results change that. The seeds are fixed, and so are
 * the counts.
 */
import { describe, expect, test } from 'bun:test'
import type { Draft, DraftBrief } from '#domain/growth/drafting/draft'
import { type HookResult, hookChances } from '#domain/growth/drafting/hook-choice'
import { type HookKey, postHooks } from '#domain/growth/drafting/hooks'
import type { Profile } from '#domain/growth/drafting/profile'
import { createComposer } from '#port/model/composer/composer'
import { engineerProfile, softwareProfile, studioProfile } from '#test/support/growth/profiles'
import { briefWith, neverAborts } from '#test/support/model/briefs'
import { validDrafts } from '#test/support/model/fake-drafts'
import { createFakeOpenAi } from '#test/support/model/fake-openai'
import { inlineWorker } from '#test/support/model/inline-worker'
import { drafterOn } from '#test/support/model/openai-drafter'

const composer = createComposer(inlineWorker)
const compose = async (changes: Partial<DraftBrief>): Promise<Draft[]> =>
  (await composer.draft(briefWith(changes), neverAborts())).drafts

const SERIES = 30
/**
 * Batches of five with their own seeds, each weighed by results, as the generation lane does it.
 */
const series = async (profile: Profile, results: HookResult[]): Promise<string[]> => {
  const hooks: string[] = []
  for (let batch = 0; batch < SERIES; batch += 1) {
    const seed = `batch-${batch}`
    for (const { hook } of await compose({ profile, seed, hooks: hookChances(results, seed) }))
      hooks.push(hook)
  }
  return hooks
}
const shareOf = (hooks: readonly string[], hook: HookKey): number =>
  hooks.filter((one) => one === hook).length / hooks.length
const kindsOf = (hooks: readonly string[]): number => new Set(hooks).size

const basis = 'impressions' as const

describe('the composer', () => {
  const measured = (good: HookKey): HookResult[] =>
    postHooks
      .slice(0, 30)
      .map((hook) => ({ hook, basis, posts: 12, mean: hook === good ? 0.09 : 0.03 }))

  test.each([
    [softwareProfile, 'short-version'],
    [studioProfile, 'ending-first'],
    [engineerProfile, 'number-first'],
  ] as const)(
    'drafts clearly more with what worked, and still tries others',
    async (profile, good) => {
      const [before, after] = [await series(profile, []), await series(profile, measured(good))]
      expect(shareOf(after, good)).toBeGreaterThan(1.7 * shareOf(before, good))
      expect(shareOf(after, good)).toBeLessThan(0.5)
      expect(kindsOf(after)).toBeGreaterThanOrEqual(10)
    },
  )

  test('drafts clearly less with what flopped', async () => {
    const [before, after] = [
      await series(softwareProfile, []),
      await series(
        softwareProfile,
        postHooks
          .slice(0, 30)
          .map((hook) => ({ hook, basis, posts: 12, mean: hook === 'admission' ? 0.003 : 0.03 })),
      ),
    ]
    expect(shareOf(after, 'admission')).toBeLessThan(0.6 * shareOf(before, 'admission'))
  })

  test('spreads its drafts if nothing was measured', async () => {
    for (const profile of [softwareProfile, studioProfile, engineerProfile]) {
      const hooks = await series(profile, [])
      expect(kindsOf(hooks)).toBeGreaterThanOrEqual(10)
      for (const hook of postHooks) expect(shareOf(hooks, hook)).toBeLessThan(0.25)
    }
  })

  test('uses the whole library if the material allows', async () => {
    const used = new Set<string>()
    for (const focus of [
      '',
      'Onboarding',
      'We opened a second office.',
      'We opened a second office. Six people work there now.',
      'Time travel',
    ])
      for (const hook of postHooks) {
        if (used.has(hook)) continue
        for (const one of await compose({
          profile: rich,
          products,
          focus,
          seed: hook,
          hooks: [{ hook, weight: 1_000 }],
        }))
          used.add(one.hook)
      }
    expect(postHooks.filter((hook) => !used.has(hook))).toEqual([])
  })
})

const products = [{ name: 'Loopline', one_liner: 'onboarding that asks one question', url: null }]

/** Material for every opening. */
const rich: Profile = {
  ...softwareProfile,
  audience: 'SaaS founders',
  writing_dna: {
    ...softwareProfile.writing_dna,
    stories: [
      ...softwareProfile.writing_dna.stories,
      'Why does every form ask for a fax number? Nobody on our team owns a fax.',
      'Never promise a date on a call. We promised one in our first year and shipped the wrong thing on time.',
      'Most dashboards are decoration. We removed ours and people called us.',
      'We stopped writing release notes. Customers asked better questions afterwards.',
      'Last autumn two teams asked for the same feature. We drew it on a napkin and sent both of them a photo.',
      'At first I wrote every reply by hand. Now a colleague writes the first line.',
      'Customers are loyal when people call back, not because of the price.',
      'We answered 900 emails by hand. Most of them wanted the same thing.',
      'A client paid least and wrote most. Ask for the budget first, because a guess is expensive.',
      'I learned that silence on a call is a question.',
      'We built Loopline after the third spreadsheet fell apart. It took a summer.',
      'Onboarding broke on a Monday. We fixed it on the phone.',
      'The rack hummed behind the counter all day. Visitors asked what it was, and stayed to hear more.',
      'How we lost the keys to our own office',
      'Keep one list.',
      'Ask for the reason before the feature.',
      'Write the invoice before the proposal goes out.',
    ],
    proof: [
      ...softwareProfile.writing_dna.proof,
      'Loopline runs in 212 teams',
      'Audited by two independent firms',
      'No spreadsheet fell apart since that summer',
    ],
    use: [...softwareProfile.writing_dna.use, 'Boring is a feature.'],
  },
}

describe('a model', () => {
  test('is given every opening with its explanation, those to prefer, and the names to choose from', async () => {
    await using fake = await createFakeOpenAi()
    const results = [
      { hook: 'admission', basis, posts: 30, mean: 0.09 },
      { hook: 'news', basis, posts: 30, mean: 0.01 },
    ]
    await drafterOn(fake.url).draft(
      briefWith({ hooks: hookChances(results, 'seed') }),
      neverAborts(),
    )
    const { messages, response_format } = fake.calls[0]!.body as unknown as {
      messages: { content: string }[]
      response_format: object
    }
    const input = JSON.parse(messages[1]!.content)
    expect(input.hooks.map(({ name }: { name: string }) => name)).toEqual([...postHooks])
    expect(input.preferred_hooks).toContain('admission')
    expect(input.preferred_hooks).not.toContain('news')
    expect(messages[0]!.content).toContain('"preferred_hooks"')
    expect(JSON.stringify(response_format)).toContain(
      JSON.stringify({ enum: postHooks }).slice(1, -1),
    )
  })

  test('may spell a name its own way; an unknown one is repaired, then dropped', async () => {
    const named = (...hooks: string[]) => ({
      write: (input: Parameters<typeof validDrafts>[0]) => ({
        drafts: validDrafts(input).map((draft, index) => ({
          ...draft,
          hook: hooks[index] ?? draft.hook,
          stories: [],
        })),
      }),
    })
    await using fake = await createFakeOpenAi(
      named('Cold Open', 'Your call', 'clickbait'),
      named('clickbait', 'clickbait', 'clickbait', 'clickbait', 'clickbait'),
    )
    const { drafts } = await drafterOn(fake.url).draft(briefWith(), neverAborts())
    expect(drafts.map(({ hook }) => hook).slice(0, 2)).toEqual(['cold-open', 'your-call'])
    expect(fake.calls[1]!.body.messages.at(-1)!.content).toContain(
      'post 3: its "hook" is none of "hooks"',
    )
    expect(drafts.length).toBe(4)
    for (const { hook } of drafts) expect(postHooks).toContain(hook as HookKey)
  })
})
