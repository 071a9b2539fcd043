/** What the composer makes of products. The seeds are fixed, and so are the counts. */
import { expect, test } from 'bun:test'
import type { BriefProduct, Draft, DraftBrief } from '#domain/growth/drafting/draft'
import { emptyProfile } from '#domain/growth/drafting/profile'
import { createComposer } from '#port/model/composer/composer'
import type { GenerationError } from '#port/model/drafter'
import { softwareProfile } from '#test/support/growth/profiles'
import { briefWith, neverAborts } from '#test/support/model/briefs'
import { inlineWorker } from '#test/support/model/inline-worker'

const composer = createComposer(inlineWorker)
const SEEDS = Array.from({ length: 40 }, (_, seed) => `seed-${seed}`)
const compose = async (changes: Partial<DraftBrief>): Promise<Draft[]> =>
  (await composer.draft(briefWith(changes), neverAborts())).drafts
const drafted = async (changes: Partial<DraftBrief>): Promise<Draft[]> =>
  (await Promise.all(SEEDS.map((seed) => compose({ seed, ...changes })))).flat()

const loopline: BriefProduct = {
  name: 'Loopline',
  one_liner: 'onboarding that asks one question',
  url: 'https://loopline.example/demo',
}
const offers = ({ format }: Draft) => format === 'product'

test('some drafts are about a product, most are not, and no batch repeats one', async () => {
  for (const products of [
    [loopline],
    [loopline, { name: 'Reports', one_liner: 'Weekly numbers', url: null }],
  ]) {
    const batches = await Promise.all(SEEDS.map((seed) => compose({ products, seed })))
    const share = batches.flat().filter(offers).length / batches.flat().length
    expect(share).toBeGreaterThan(0.05)
    expect(share).toBeLessThan(0.3)
    for (const batch of batches) {
      const told = batch.filter(offers).map(({ body }) => body.slice(0, body.indexOf('\n')))
      expect(new Set(told).size).toBe(told.length)
    }
  }
})

test('a product appears with its name as written, in its own words, with its address last', async () => {
  const bodies = (
    await drafted({ profile: emptyProfile, products: [{ ...loopline, name: 'dbt packs' }] })
  ).map(({ body }) => body)
  expect(new Set(bodies)).toEqual(
    new Set(['dbt packs: onboarding that asks one question.\n\nhttps://loopline.example/demo']),
  )
  const [bare] = await compose({
    profile: emptyProfile,
    products: [{ name: 'Clay Club', one_liner: 'Clay Club is six evenings', url: null }],
  })
  expect(bare!.body).toBe('Clay Club is six evenings.')
  expect(bare!.rationale).toContain('your product “Clay Club”')
})

test('an address that does not fit is left out', async () => {
  const [draft] = await compose({ profile: emptyProfile, products: [loopline], maxLength: 60 })
  expect(draft!.body).toBe('Loopline: onboarding that asks one question.')
})

test('a product appears only beside stories and proof that name it', async () => {
  const products = [
    loopline,
    { name: 'Tourless', one_liner: 'Onboarding for customers without a product tour', url: null },
  ]
  for (const { body } of (await drafted({ products, count: 20 })).filter(offers)) {
    const rest = body
      .replace(/^(?:Loopline|Tourless): .*$/m, '')
      .replace(loopline.url!, '')
      .trim()
    if (rest !== '') expect(rest).toContain(body.includes('Tourless') ? 'Tourless' : 'Loopline')
  }
})

test('a focus on a product brings it', async () => {
  const drafts = await drafted({ products: [loopline], focus: 'Loopline', count: 2 })
  expect(drafts.filter(({ body }) => body.includes('Loopline')).length).toBeGreaterThan(
    drafts.length * 0.6,
  )
})

test('a learning about product posts, or about one product, counts for them', async () => {
  const learnings = (note: string, kind: 'worked' | 'flopped') => [{ id: 'l', kind, note }]
  const share = async (changes: Partial<DraftBrief>) =>
    (await drafted({ products: [loopline], ...changes })).filter(offers).length
  expect(await share({ learnings: learnings('Product pitches', 'flopped') })).toBe(0)
  expect(await share({ learnings: learnings('Product pitches', 'worked') })).toBeGreaterThan(
    await share({}),
  )
})

test('sentences that name an archived product are left out, with a hint if nothing remains', async () => {
  const archived = ['Loopline', 'Parcelwise']
  const bodies = (await drafted({ archived, count: 20 })).map(({ body }) => body).join('\n')
  expect(bodies).toContain('SOC 2')
  for (const name of archived) expect(bodies).not.toContain(name)
  const profile = {
    ...emptyProfile,
    writing_dna: { ...emptyProfile.writing_dna, stories: ['We sold Loopline to 40 teams.'] },
  }
  const hint = await compose({ profile, archived }).catch(
    (cause) => (cause as GenerationError).hint,
  )
  expect(hint).toContain('archived products')
  expect(softwareProfile.writing_dna.proof.join()).toContain('Loopline')
})
