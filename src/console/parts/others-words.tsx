/** What people outside the workspace wrote: set apart, and never more than text. */
import { useState } from 'react'
import { ExactText } from './exact-text.tsx'

/** Longer ones are folded. */
const SHOWN = 480

interface OthersWordsProps {
  text: string
  /** Whose words they are: `Words of web example.com`. */
  whose: string
}

export const OthersWords = ({ text, whose }: OthersWordsProps) => {
  const [whole, setWhole] = useState(false)
  const isLong = text.length > SHOWN + 80
  return (
    <figure className="others">
      <figcaption>
        <ExactText text={whose} />
      </figcaption>
      <blockquote>
        <ExactText text={isLong && !whole ? `${text.slice(0, SHOWN)}…` : text} />
      </blockquote>
      {isLong && (
        <button type="button" className="link-button" onClick={() => setWhole(!whole)}>
          {whole ? 'Show less' : 'Show all'}
        </button>
      )}
    </figure>
  )
}
