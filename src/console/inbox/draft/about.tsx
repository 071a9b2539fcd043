/** Why there is this draft: the drafter's words, what it uses, and how it opens. */
import type { ReactNode } from 'react'
import type { DraftItem } from './item.ts'

const Row = ({ says, children }: { says: string; children: ReactNode }) => (
  <div>
    <dt>{says}</dt>
    <dd dir="auto">{children}</dd>
  </div>
)

const words = (name: string): string => name.replaceAll(/[-_]/g, ' ')

export const About = ({ item }: { item: DraftItem }) => (
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
    {item.hook && item.kind === 'post' && (
      <Row says="Opening">
        {words(item.hook)}
        {item.format && ` · ${words(item.format)}`}
        {item.arm && ` · arm ${item.arm}`}
      </Row>
    )}
    {item.note && <Row says="Note">{item.note}</Row>}
  </dl>
)
