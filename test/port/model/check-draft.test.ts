import { describe, expect, test } from 'bun:test'
import { containsPhrase } from '#domain/growth/drafting/phrase'
import { checkDraft } from '#port/model/checks/draft'
import { softwareProfile } from '#test/support/growth/profiles'
import { briefWith } from '#test/support/model/briefs'

const draft = (body: string, rest: { hook?: string; stories?: string[] } = {}) => ({
  body,
  hook: 'plain',
  stories: [],
  ...rest,
})
const kinds = (body: string, changes: Parameters<typeof briefWith>[0] = {}) =>
  checkDraft(draft(body), briefWith(changes), []).map(({ kind }) => kind)

describe('avoided phrases', () => {
  test.each([
    ['a hack for teams', 'hack'],
    ['HACK it', 'Hack'],
    ['(hack)', 'hack'],
    ['ｈａｃｋ', 'hack'],
    ['ha\u200bck', 'hack'],
    ['crushing\n it today', 'crushing it'],
    ['don’t do it', "don't"],
    ['AI-powered tools', 'ai-powered'],
    ['这是一个秘密武器。', '秘密'],
    ['C++ code', 'c++'],
  ])('%j contains %j', (text, phrase) => expect(containsPhrase(text, phrase)).toBeTrue())

  test.each([
    ['a hackathon', 'hack'],
    ['shack', 'hack'],
    ['crushing nothing', 'crushing it'],
    ['anything', ''],
    ['anything', '  '],
    ['éhack', 'hack'],
  ])('%j does not contain %j', (text, phrase) => expect(containsPhrase(text, phrase)).toBeFalse())
})

describe('checkDraft', () => {
  test('a body with nothing in it is empty', () => expect(kinds(' \n ')).toEqual(['empty']))

  test('length is in the measure of the network', () => {
    const measure = (text: string) => text.length * 10
    expect(kinds('Short enough?', { measure, maxLength: 129 })).toEqual(['too_long'])
    expect(kinds('Short enough?', { measure, maxLength: 130 })).toEqual([])
  })

  test('the same words in another order, case or punctuation repeat a recent post', () => {
    const recent = [{ body: 'We deleted the tour and asked one question.', hook: 'x' }]
    expect(kinds('ONE question asked, and we deleted the tour!', { recent })).toEqual(['repeated'])
    expect(kinds('We deleted the tour because no one finished any of it.', { recent })).toEqual([])
  })

  test('a story under the same hook in the same batch is a repeat; under another hook it is not', () => {
    const stories = ['A story.']
    const accepted = [draft('Something quite different.', { hook: 'mistake', stories })]
    const check = (hook: string) =>
      checkDraft(draft('Words in no other post.', { hook, stories }), briefWith(), accepted).map(
        ({ kind }) => kind,
      )
    expect(check('mistake')).toEqual(['repeated'])
    expect(check('question')).toEqual([])
  })

  test.each(['Grew by 4711%.', 'Saved $8.', 'In 1987 it began.', '5k users.', '3x faster.'])(
    '%j states a number that the profile does not have',
    (body) => {
      expect(kinds(body)).toEqual(['unsupported'])
    },
  )

  test.each(['Lost 14% in one email.', 'Reached $1.1M.', '3 things to try.', '1. Begin.\n2. End.'])(
    '%j states nothing new',
    (body) => {
      expect(kinds(body)).toEqual([])
    },
  )

  test('a number of the focus may be stated', () =>
    expect(kinds('Out on 24 May.', { focus: 'launch on 24 May' })).toEqual([]))

  test('each avoided phrase is named', () => {
    const faults = checkDraft(
      draft('Synergy and leverage.'),
      briefWith({ profile: softwareProfile }),
      [],
    )
    expect(faults.map(({ detail }) => detail)).toEqual([
      'the body contains the avoided phrase "synergy"',
      'the body contains the avoided phrase "leverage"',
    ])
  })
})

describe('products', () => {
  const active = (...names: string[]) =>
    names.map((name) => ({ name, one_liner: 'For 4711 depots', url: 'https://example.com/31337' }))

  test('the name of an archived one is refused as whole words, and named', () => {
    const brief = briefWith({ archived: ['Loopline'] })
    expect(checkDraft(draft('Our LOOPLINE is here.'), brief, [])).toEqual([
      { kind: 'archived', detail: 'the body mentions the archived product "Loopline"' },
    ])
    expect(kinds('Looplines are here.', { archived: ['Loopline'] })).toEqual([])
  })

  test.each([
    ['Loopline Pro is here.', []],
    ['LOOPLINE  pro is here.', []],
    ['Loopline is here.', ['archived']],
    ['Loopline Pro is here, and Loopline is not.', ['archived']],
    ['Loopline Promises are here.', ['archived']],
    ['Loopline Pro, Loopline Pro.', []],
  ] as const)(
    '%j may have an archived name within that of an active product, and nowhere else',
    (body, faults) =>
      expect(kinds(body, { archived: ['Loopline'], products: active('Loopline Pro') })).toEqual([
        ...faults,
      ]),
  )

  test('a name that an active product has too may be mentioned', () =>
    expect(
      kinds('Loopline is here.', { archived: ['loopline'], products: active('Loopline') }),
    ).toEqual([]))

  test('the words of active ones may be stated, numbers included', () => {
    const body = 'It runs in 4711 depots: https://example.com/31337'
    expect(kinds(body)).toEqual(['unsupported'])
    expect(kinds(body, { products: active('Dockline') })).toEqual([])
  })
})
