/** A text that goes out, edited in place, and how much of what is allowed it uses. */
import { type ReactNode, useId } from 'react'
import { useShortcut } from '../../keys/use-keys.ts'
import type { TypedOver } from '../../typed/use-typed-over.ts'
import { ArticleText } from './article-view.tsx'
import type { TextCheck, TextRules } from './checks.ts'
import { Count } from './count.tsx'
import { Editor, type EditorHandle } from './editor.tsx'

interface EditedPostProps {
  kind: TextRules['kind']
  edited: Pick<TypedOver, 'text' | 'change'> & { mayEdit: boolean; save(): void }
  check: TextCheck
  /** What it is called: `The reply`. */
  label: string
  /** The server's count, where the browser has none. */
  counted: number
  /** Of the text on the screen; undefined while it is not known. */
  hash: string | undefined
  handle: { current: EditorHandle | null }
  /** ⌘↵ in the editor. */
  approve(): void
  /** Above the text. */
  children?: ReactNode
}

export const EditedPost = ({
  kind,
  edited,
  check,
  label,
  handle,
  children,
  ...does
}: EditedPostProps) => {
  const id = useId()
  useShortcut('edit', edited.mayEdit ? () => handle.current?.focus() : undefined)
  const Text = kind === 'article' ? ArticleText : Editor
  return (
    <article className="post">
      {children}
      <Text
        text={edited.text}
        rules={check}
        mayEdit={edited.mayEdit}
        label={label}
        describedBy={id}
        handle={handle}
        change={edited.change}
        left={edited.save}
        approve={does.approve}
      />
      <Count id={id} check={check} counted={does.counted} hash={does.hash} />
    </article>
  )
}
