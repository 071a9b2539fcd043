import { type Block, candidate, cite, type DraftCandidate, type DraftForm, type DraftScope } from './candidate.ts'
import { glue } from './glue.ts'
import type { Story, Unit } from './material.ts'
import { shared, termsOf } from './text.ts'

const prose = (units: readonly Unit[]): Block => ({ kind: 'prose', units })

/** Stories short enough to be told whole under a line of address. */
const wholeStories = ({ material, fits }: DraftScope): Story[] =>
  material.stories.filter(({ units, source }) => source === 'story' && units.length > 1 && fits(units, 80))

const advice = ({ material, fits }: DraftScope): Unit[] =>
  material.stories
    .flatMap(({ units }) => units)
    .filter(
      (unit) =>
        unit.standalone &&
        unit.complete &&
        (unit.roles.has('lesson') || unit.roles.has('rule') || unit.roles.has('stance')) &&
        fits([unit], 80),
    )

/** Speaks to the audience by name: a story for them, or one piece of advice. */
export const audienceCall: DraftForm = (scope) => {
  if (!scope.material.audience) return []
  const stories = wholeStories(scope).map(({ units }): DraftCandidate => {
    const [lead] = units as [Unit]
    const why = `Addresses your audience and tells your story ${cite(lead)}.`
    return candidate({
      hook: 'audience-call',
      format: 'story',
      blocks: [{ kind: 'glue', slot: 'audience-story' }, prose(units)],
      units,
      lead,
      cues: ['story', 'audience'],
      weight: 0.6,
      why,
    })
  })
  const points = advice(scope).map((unit): DraftCandidate => {
    const why = `Gives your audience one piece of advice, from your story ${cite(unit)}.`
    return candidate({
      hook: 'audience-advice',
      format: 'advice',
      blocks: [{ kind: 'glue', slot: 'audience-advice' }, prose([unit])],
      units: [unit],
      lead: unit,
      cues: ['lesson', 'audience', 'short'],
      weight: 0.6,
      why,
    })
  })
  return [...stories, ...points]
}

/** True when the sentences speak of the topic, so that naming it over them says nothing wrong. */
const isAbout = (units: readonly Unit[], topic: string): boolean => {
  const terms = termsOf(topic)
  const covered = new Set(units.flatMap((unit) => [...unit.terms].filter((term) => terms.has(term))))
  return covered.size > 0 && covered.size * 2 >= terms.size
}

/** Names the topic of the focus over material that speaks of it. */
export const topicLabel: DraftForm = (scope) => {
  const { topic } = scope.focus
  if (topic === undefined) return []
  const stories = wholeStories(scope)
    .filter(({ units }) => isAbout(units, topic))
    .map(({ units }): DraftCandidate => {
      const [lead] = units as [Unit]
      const why = `Names the topic and tells your story ${cite(lead)}.`
      return candidate({
        hook: 'topic-label',
        format: 'story',
        blocks: [{ kind: 'glue', slot: 'topic-story' }, prose(units)],
        units,
        lead,
        cues: ['story'],
        weight: 1,
        why,
      })
    })
  const points = [...advice(scope), ...scope.material.proof]
    .filter((unit) => unit.standalone && isAbout([unit], topic) && scope.fits([unit], 60))
    .map((unit): DraftCandidate => {
      const why = `Names the topic over one sentence of yours, ${cite(unit)}.`
      return candidate({
        hook: 'topic-point',
        format: 'note',
        blocks: [{ kind: 'glue', slot: 'topic-point' }, prose([unit])],
        units: [unit],
        lead: unit,
        cues: ['short'],
        closer: 'close-lesson',
        weight: 0.7,
        why,
      })
    })
  return [...stories, ...points]
}

const WH = /^(?:how|why|what|when|where|who|which|whether)\b/i

/** Questions about the topic: all that can be said honestly where the profile has nothing on it. */
export const openQuestion: DraftForm = ({ focus, material, style }) => {
  if (focus.topic === undefined || WH.test(focus.topic) || style.noQuestions) return []
  const covered = [...material.stories.flatMap(({ units }) => units), ...material.proof].some(({ terms }) => shared(terms, focus.terms) > 0)
  const question = { format: 'question', units: [], cues: ['question', 'short'] as ('question' | 'short')[], weight: covered ? 0.5 : 1 }
  const why = covered
    ? 'Asks your audience about the topic of the focus.'
    : 'Asks your audience about the topic, because no story or proof in the profile speaks of it yet.'
  return glue['topic-question'].flatMap(() => [
    candidate({ ...question, hook: 'open-question', blocks: [{ kind: 'glue', slot: 'topic-question' }], why }),
    ...(material.audience
      ? [
          candidate({
            ...question,
            hook: 'audience-question',
            blocks: [
              { kind: 'glue', slot: 'topic-audience' },
              { kind: 'glue', slot: 'topic-question' },
            ],
            why,
          }),
        ]
      : []),
  ])
}

/** News of the focus that is a single sentence. */
export const shortNews: DraftForm = ({ material, fits }) =>
  material.stories
    .filter(({ source, units }) => source === 'news' && units.length >= 1 && fits(units.slice(0, 1), 0))
    .map(({ units }) =>
      candidate({
        hook: 'news-line',
        format: 'announcement',
        blocks: [prose(units.slice(0, 1))],
        units: units.slice(0, 1),
        cues: ['short'],
        weight: units.length === 1 ? 1.5 : 0.1,
        why: 'Announces what the focus states, in its own words.',
      }),
    )
