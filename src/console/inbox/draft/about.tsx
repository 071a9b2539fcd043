/** Why there is this draft: the drafter's words, what it uses, and how it opens. */
import type { ReactNode } from 'react'
import { wordsOfHook } from '../words.ts'
import type { DraftItem } from './item.ts'

const Row = ({ says, children }: { says: string; children: ReactNode }) => (
  <div>
    <dt>{says}</dt>
    <dd dir="auto">{children}</dd>
  </div>
)

const words = (name: string): string => name.replaceAll(/[-_]/g, ' ')

const openingOf = ({ hook, format, arm }: DraftItem): string =>
  [wordsOfHook(hook), format && words(format), arm && `arm ${arm}`].filter(Boolean).join(' · ')

/** What goes out beside the text: whom it mentions, and the card of its first link. */
export const BesideText = ({ marks }: { marks: DraftItem['marks'] | undefined }) => {
  const { mentions = [], card = null } = marks ?? {}
  if (mentions.length === 0 && card === null) return null
  return (
    <dl className="about" aria-label="Beside the text">
      {mentions.length > 0 && (
        <Row says="It mentions">{mentions.map(({ handle }) => `@${handle}`).join(', ')}</Row>
      )}
      {card && (
        <Row says="It shows a card of its first link">
          <blockquote dir="auto">
            <strong>
              <bdi>{card.title}</bdi>
            </strong>{' '}
            <bdi>{card.description}</bdi>
          </blockquote>
        </Row>
      )}
    </dl>
  )
}

export const About = ({ item }: { item: DraftItem }) => {
  const opening = openingOf(item)
  return (
    <dl className="about">
      {item.rationale && <Row says="Why this draft">{item.rationale}</Row>}
      {item.stories.length > 0 && (
        <Row says="Your words it uses">
          {item.stories.map((story) => (
            <blockquote key={story} dir="auto">
              “<bdi>{story}</bdi>”
            </blockquote>
          ))}
        </Row>
      )}
      {opening !== '' && item.kind === 'post' && <Row says="Opening">{opening}</Row>}
      {item.note && <Row says="Note">{item.note}</Row>}
    </dl>
  )
}
