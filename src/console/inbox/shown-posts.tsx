/** Posts as the network showed them, of which a person may take one for the one looked for. */
import { Exact } from '../parts/exact-text.tsx'
import { OutsideLink } from '../parts/outside-link.tsx'
import { When } from '../parts/when.tsx'

export interface SeenOnNetwork {
  external_id: string
  url: string | null
  posted_at: string
  text: string
  /** Whether this is only the beginning of the text. */
  is_cut: boolean
}

interface ShownPostsProps<Post extends SeenOnNetwork> {
  posts: readonly Post[] | undefined
  /** Whether it may be the one that is looked for. */
  isCandidate(post: Post): boolean
  /** What taking a post does; undefined where this one cannot be taken. */
  picking(post: Post): (() => void) | undefined
}

interface ShownProps {
  post: SeenOnNetwork
  isCandidate: boolean
  pick: (() => void) | undefined
}

const Shown = ({ post, isCandidate, pick }: ShownProps) => (
  <li className="shown-post">
    <blockquote className="plain-text" dir="auto">
      <Exact text={post.text} />
      {post.is_cut && '…'}
    </blockquote>
    <p className="soft">
      <When at={post.posted_at} />
      {isCandidate && ' · may be this one'}
      <OutsideLink url={post.url} />
    </p>
    {pick && (
      <button type="button" className="action plain" onClick={pick}>
        This is it
      </button>
    )}
  </li>
)

export const ShownPosts = <Post extends SeenOnNetwork>({
  posts,
  isCandidate,
  picking,
}: ShownPostsProps<Post>) => (
  <ul className="shown-posts" aria-label="Posts on the timeline, as others' words">
    {posts?.map((post) => (
      <Shown
        key={post.external_id}
        post={post}
        isCandidate={isCandidate(post)}
        pick={picking(post)}
      />
    ))}
  </ul>
)
