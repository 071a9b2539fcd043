import { countShared, termsOf } from '#domain/growth/reading/words'
import { candidate, cite, type DraftForm, type DraftScope } from './candidate.ts'
import { glue } from './glue.ts'
import type { Unit } from './material.ts'

/** Stories short enough to tell whole under a line of address. */
const wholeStories = ({ material, fits }: DraftScope): Unit[][] =>
  material.stories
    .filter(({ units, source }) => source === 'story' && units.length > 1 && fits(units, 80))
    .map(({ units }) => units)

const advice = ({ material, fits }: DraftScope): Unit[] =>
  material.stories
    .flatMap(({ units }) => units)
    .filter(
      ({ standalone, complete, roles }) =>
        standalone && complete && (roles.has('lesson') || roles.has('rule') || roles.has('stance')),
    )
    .filter((unit) => fits([unit], 80))

/** Addresses the audience by name, with a story or one piece of advice. */
export const audienceCall: DraftForm = (scope) => {
  if (!scope.material.audience) return []
  const stories = wholeStories(scope).map((units) =>
    candidate(
      'audience-call',
      ['audience-story', units],
      `Addresses your audience and tells your story ${cite(units[0]!)}.`,
    ),
  )
  const points = advice(scope).map((unit) => {
    const why = `Gives your audience one piece of advice, from your story ${cite(unit)}.`
    return candidate('audience-advice', ['audience-advice', [unit]], why)
  })
  return [...stories, ...points]
}

/** Whether the sentences are about the topic, so that naming it above them is true. */
const isAbout = (units: readonly Unit[], topic: string): boolean => {
  const terms = termsOf(topic)
  const covered = new Set(units.flatMap((unit) => [...unit.terms])).intersection(terms)
  return covered.size > 0 && covered.size * 2 >= terms.size
}

/** Names the topic of the focus above material about it. */
export const topicLabel: DraftForm = (scope) => {
  const { topic } = scope.focus
  if (topic === undefined) return []
  const stories = wholeStories(scope)
    .filter((units) => isAbout(units, topic))
    .map((units) =>
      candidate(
        'topic-label',
        ['topic-story', units],
        `Names the topic and tells your story ${cite(units[0]!)}.`,
      ),
    )
  const points = [...advice(scope), ...scope.material.proof]
    .filter((unit) => unit.standalone && isAbout([unit], topic) && scope.fits([unit], 60))
    .map((unit) =>
      candidate(
        'topic-point',
        ['topic-point', [unit]],
        `Names the topic over one sentence of yours, ${cite(unit)}.`,
      ),
    )
  return [...stories, ...points]
}

const WH = /^(?:how|why|what|when|where|who|which|whether)\b/i

/** Questions about the topic: the only honest posts if the profile has nothing on it. */
export const openQuestion: DraftForm = ({ focus, material, style }) => {
  if (focus.topic === undefined || WH.test(focus.topic) || style.noQuestions) return []
  const covered = [...material.stories.flatMap(({ units }) => units), ...material.proof].some(
    ({ terms }) => countShared(terms, focus.terms) > 0,
  )
  const why = covered
    ? 'Asks your audience about the topic of the focus.'
    : 'Asks your audience about the topic, because no story or proof in the profile is about it yet.'
  const weight = covered ? 0.5 : 1
  return glue['topic-question'].flatMap(() => [
    candidate('open-question', ['topic-question'], why, { weight }),
    ...(material.audience
      ? [candidate('audience-question', ['topic-audience', 'topic-question'], why, { weight })]
      : []),
  ])
}

/** News of the focus that is a single sentence. */
export const shortNews: DraftForm = ({ material, fits }) =>
  material.stories
    .filter(({ source, units }) => source === 'news' && fits(units.slice(0, 1), 0))
    .map(({ units }) => {
      const weight = units.length === 1 ? 1.5 : 0.1
      return candidate(
        'news-line',
        [units.slice(0, 1)],
        'Announces what the focus states, in its own words.',
        { weight },
      )
    })
