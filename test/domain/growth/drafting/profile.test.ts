import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  changedFields,
  changeLists,
  emptyProfile,
  type Profile,
  type ProfilePatch,
  requireProfileRevision,
  updateProfile,
} from '#domain/growth/drafting/profile'

const profile: Profile = {
  goal: 'Book demos',
  audience: 'Operations leads',
  voice: 'Plain',
  language: 'en-GB',
  time_zone: 'Europe/Berlin',
  on_missed: 'skip',
  writing_dna: {
    voice_rules: ['No emoji'],
    stories: ['A story', 'Another story'],
    proof: ['31% fewer delays'],
    patterns: ['Number first'],
    use: ['dock'],
    avoid: ['synergy'],
  },
}

test('by default a workspace writes English, uses UTC and posts items missed by less than an hour', () => {
  expect(emptyProfile).toEqual({
    goal: '',
    audience: '',
    voice: '',
    language: 'en',
    time_zone: 'UTC',
    on_missed: 'post',
    writing_dna: { voice_rules: [], stories: [], proof: [], patterns: [], use: [], avoid: [] },
  })
})

const entries = fc.array(fc.string({ maxLength: 5 }), { maxLength: 3 })
const dna = {
  voice_rules: entries,
  stories: entries,
  proof: entries,
  patterns: entries,
  use: entries,
  avoid: entries,
}
const text = fc.string({ maxLength: 5 })
const patches: fc.Arbitrary<ProfilePatch> = fc.record(
  {
    goal: text,
    audience: text,
    voice: text,
    language: fc.constantFrom('en', 'de'),
    time_zone: fc.constantFrom('UTC', 'Asia/Tokyo'),
    on_missed: fc.constantFrom('post' as const, 'skip' as const),
    writing_dna: fc.record(dna, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
)

const fields = ['goal', 'audience', 'voice', 'language', 'time_zone', 'on_missed'] as const

test('after any partial updates each field and each list has the value given last', () => {
  fc.assert(
    fc.property(fc.array(patches, { maxLength: 6 }), (updates) => {
      const given = structuredClone(updates)
      const result = updates.reduce(updateProfile, profile)
      expect(updates).toEqual(given)
      const lastOf = <V>(of: (patch: ProfilePatch) => V | undefined, first: V): V =>
        updates.map(of).findLast((value) => value !== undefined) ?? first
      for (const field of fields)
        expect(result[field]).toBe(lastOf<string>((patch) => patch[field], profile[field]))
      for (const list of Object.keys(dna) as (keyof typeof dna)[])
        expect(result.writing_dna[list]).toEqual(
          lastOf((patch) => patch.writing_dna?.[list], profile.writing_dna[list]),
        )
    }),
  )
})

test('an update does not change the given profile', () => {
  const before = structuredClone(profile)
  updateProfile(profile, { goal: 'Sell', writing_dna: { stories: ['New'] } })
  expect(profile).toEqual(before)
})

describe('the voice of the Writing DNA', () => {
  test('has two names for one list', () => {
    for (const writing_dna of [
      { voice: ['dry'] },
      { voice_rules: ['dry'] },
      { voice: ['dry'], voice_rules: ['dry'] },
    ])
      expect(updateProfile(profile, { writing_dna }).writing_dna).toEqual({
        ...profile.writing_dna,
        voice_rules: ['dry'],
      })
    expect(updateProfile(profile, { writing_dna: { voice: [] } }).writing_dna.voice_rules).toEqual(
      [],
    )
  })

  test.each([
    [['a'], ['b']],
    [['a'], []],
    [[], ['a']],
    [
      ['a', 'b'],
      ['b', 'a'],
    ],
  ])('is refused when its names disagree: %j, %j', (voice, voice_rules) => {
    expect(() => updateProfile(profile, { writing_dna: { voice, voice_rules } })).toThrow(
      'writing_dna.voice is an alias of writing_dna.voice_rules',
    )
  })
})

describe('entries of lists', () => {
  test('are taken out first, and then added at the end, each once', () => {
    const next = changeLists(profile, {
      remove: { stories: ['A story'] },
      add: { stories: ['A story', 'Third', 'Third'], use: ['dock', 'van'] },
    })
    expect(next.writing_dna).toEqual({
      ...profile.writing_dna,
      stories: ['Another story', 'A story', 'Third'],
      use: ['dock', 'van'],
    })
  })

  test('that are not there cannot be taken out', () => {
    expect(() => changeLists(profile, { remove: { avoid: ['synergy', 'Synergy'] } })).toThrow(
      'remove.avoid[1] is no entry of the list; give it exactly as it stands there',
    )
  })

  test('stand in lists that exist', () => {
    expect(() => changeLists(profile, { add: { tone: ['warm'] } })).toThrow(
      'add.tone is no list; there are voice_rules, stories, proof, patterns, use, avoid',
    )
  })

  test('are at most 100', () => {
    const many = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) => `Entry ${from + index}`)
    const full = changeLists(profile, { add: { proof: many(0, 99) } })
    expect(full.writing_dna.proof).toHaveLength(100)
    expect(() => changeLists(full, { add: { proof: ['One more'] } })).toThrow(
      'add.proof makes 101 entries; the maximum is 100',
    )
    expect(
      changeLists(full, { remove: { proof: ['Entry 0'] }, add: { proof: ['One more'] } })
        .writing_dna.proof,
    ).toHaveLength(100)
  })
})

test('what has changed is named', () => {
  const next = changeLists(updateProfile(profile, { goal: 'Sell' }), { add: { avoid: ['van'] } })
  expect(changedFields(profile, next)).toEqual(['goal', 'avoid'])
  expect(changedFields(profile, profile)).toEqual([])
})

test('an editor who has seen another version is refused, and told the present one', () => {
  expect(() => requireProfileRevision(3, undefined)).not.toThrow()
  expect(() => requireProfileRevision(3, 3)).not.toThrow()
  expect(() => requireProfileRevision(3, 2)).toThrow(
    'cannot change the profile: revision is 2, but the profile is at revision 3: somebody has changed it meanwhile; read it again',
  )
})
