/** What networks let programs do with somebody else's post. */
import { engageActions } from '#contract/records/growth/engagement'
import type { EngagedPost } from '#domain/growth/drafting/engagement'
import { othersPost } from '#port/network/others-post'
import type { CommandContext } from '../../engine/call.ts'

/** Each action with the network's present verdict. */
export const possibleActions = (
  { networks }: Pick<CommandContext, 'networks'>,
  post: EngagedPost,
) =>
  engageActions.map((action) => {
    const verdict = networks.named(post.network)?.preflight(action, othersPost(post))
    if (verdict?.allowed) return { action, allowed: true, reason: null, message: null, link: null }
    return {
      action,
      allowed: false,
      reason: verdict?.reason ?? 'network_not_served',
      message: verdict?.message ?? 'this server is not connected to the network of the post',
      link: verdict?.link ?? null,
    }
  })
