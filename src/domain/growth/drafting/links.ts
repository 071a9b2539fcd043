/**
 * Finds the links that X would shorten. Its counting document has two rules: anything with a scheme
 * and a host is a link, and so is a bare domain whose last label is a real top-level domain.
 */

export interface Link {
  /** Offsets in UTF-16 units, the end exclusive. */
  start: number
  end: number
  /** False if the domain is unknown or violates DNS: X may or may not see a link here. */
  certain: boolean
}

/** Country-code domains, of two letters (IANA root zone). */
const COUNTRY =
  'ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bv bw by bz ca cc cd cf cg ch ci ck cl ' +
  'cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr ga gb gd ge gf gg gh gi gl gm gn gp gq gr gs gt ' +
  'gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ' +
  'ma mc md me mg mh mk ml mm mn mo mp mq mr ms mt mu mv mw mx my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pm pn pr ' +
  'ps pt pw py qa re ro rs ru rw sa sb sc sd se sg sh si sj sk sl sm sn so sr ss st su sv sx sy sz tc td tf tg th tj tk tl tm tn to tr tt ' +
  'tv tw tz ua ug uk us uy uz va vc ve vg vi vn vu wf ws ye yt za zm zw'

/**
 * Generic domains in common use. A rare one is a link after `https://` only; bare, it counts as
 * plain words.
 */
const GENERIC =
  'com org net edu gov mil int info biz name pro mobi aero coop museum jobs travel tel asia cat post xxx arpa onion ' +
  'app dev page blog shop store online site website web tech cloud digital agency studio design media news live tv video email link click ' +
  'xyz top club vip win bid icu buzz fun lol wtf rocks ninja guru expert zone world earth global life love today now one new ' +
  'space social chat community network team group works work company business ltd inc llc gmbh solutions services systems software ' +
  'finance financial fund capital money bank cash credit exchange trade trading market markets marketing consulting ventures partners ' +
  'health care clinic dental doctor fit fitness yoga food kitchen restaurant cafe coffee beer wine pizza bar pub party events ' +
  'photo photos photography pictures gallery art audio music band film movie show theater games game play bet casino ' +
  'academy school college university education training courses science institute foundation ngo ong charity gives church ' +
  'house homes land estate realty property properties rent rentals apartments garden green energy solar eco bio farm ' +
  'city town london paris berlin tokyo nyc moscow istanbul amsterdam africa eus gal scot wales irish kiwi quebec ' +
  'fashion style clothing shoes jewelry beauty hair skin tattoo boutique gift gifts toys baby kids family dating wedding ' +
  'car cars auto bike taxi limo tours holiday vacations flights hotel hosting host domains server codes computer data download ' +
  'tools run build engineer engineering construction contractors repair plumbing lighting supply parts ' +
  'press report review reviews guide wiki how help support center directory faith vote law legal lawyer attorney tax ' +
  'google youtube amazon apple microsoft ibm bbc sex porn adult sexy gay lgbt hiphop ink mom dad zip mov foo meme esq prof phd day'

/** Domains in other scripts. The `xn--` form of each always counts. */
const NATIVE =
  'みんな コム 中国 中國 香港 台湾 台灣 新加坡 公司 网络 网址 商城 在线 한국 닷컴 рф рус укр бел срб москва онлайн сайт ελ հայ გე भारत संगठन ไทย ایران ' +
  'پاکستان مصر قطر امارات السعودية المغرب شبكة موقع'

/** An alternation built as a trie, longest first: most mismatches fail at the first letter. */
const anyOf = (words: readonly string[]): string => {
  const byFirst = Map.groupBy(
    words.filter((word) => word !== ''),
    (word) => word.charAt(0),
  )
  const branches = [...byFirst].map(
    ([first, group]) => first + anyOf(group.map((word) => word.slice(1))),
  )
  return branches.length === 0 ? '' : `(?:${branches.join('|')})${words.includes('') ? '?' : ''}`
}

const ACCENTED = '\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u024f'
const LATIN = `A-Za-z0-9${ACCENTED}`
/** Must not follow a domain: then it is part of an email address or of a longer word. */
const END = '(?![A-Za-z0-9@+-])'
const topLevel = (): string =>
  `(?:(?:${anyOf(`${COUNTRY} ${GENERIC}`.split(' '))}|xn--[a-z0-9-]+)${END}|${anyOf(NATIVE.split(' '))})`
const WORD = '\\p{L}\\p{M}\\p{N}\\p{S}'
/** Labels have at most 63 characters, as in DNS; underscores occur in subdomains only. */
const host = (letters: string): string =>
  `(?:[${letters}](?:[${letters}_-]{0,61}[${letters}])?\\.){0,20}[${letters}](?:[${letters}-]{0,61}[${letters}])?\\.`
const PATH_LETTER = `${LATIN}\\u0300-\\u036f\\u0400-\\u04ff\\u1e00-\\u1eff`
const PATH_ANY = `[${PATH_LETTER}!*';:=+,.$\\/%#\\[\\]\\-\\u2013_~@|&]`
/** Parentheses in a path come in pairs, nested once at most. */
const PARENS = `\\((?:${PATH_ANY}|\\(${PATH_ANY}*\\))*\\)`
const PATH = `\\/(?:(?:${PATH_ANY}|${PARENS})*(?:[${PATH_LETTER}=_#\\/+\\-]|${PARENS}))?`
const QUERY = `\\?[A-Za-z0-9!?*'@();:&=+$\\/%#\\[\\]\\-_.,~|]*[A-Za-z0-9\\-_&=#\\/]`
const TAIL = `(?::[0-9]+)?(?:${PATH})?(?:${QUERY})?`
/** No link begins directly after a word, mention, hashtag or cashtag. */
const FREE = '(?<![A-Za-z0-9@＠$#＃])'
/**
 * A bare domain begins where its word begins, or after the letter that ends a mention, a hashtag or
 * a cashtag. So no two searches for a host cross the same text, and all of them together take
 * linear time.
 */
const WORD_START = `${FREE}(?:(?<![${ACCENTED}_.\\/-])|(?<=[@＠$#＃][A-Za-z0-9]*[${ACCENTED}]))`

const linkPattern = (tld: string): RegExp =>
  new RegExp(
    [
      // X's own short links end after the slug; a slug of more than 40 characters is not one.
      `${FREE}https?:\\/\\/t\\.co\\/[a-z0-9]{1,40}(?![a-z0-9])(?:${QUERY})?`,
      `${FREE}https?:\\/\\/(?!t\\.co\\/[a-z0-9]{41})(?<host>${host(WORD)}${tld})${TAIL}`,
      `${FREE}(?<unknown>https?:\\/\\/(?!t\\.co\\/)${host(WORD)}[\\p{L}\\p{M}]{2,63}${END}${TAIL})`,
      `${WORD_START}${host(LATIN)}${tld}${TAIL}`,
    ].join('|'),
    'giu',
  )

let pattern: RegExp | undefined
/** Made when first needed: it took a seventh of the time in which a process starts. */
const links = (): RegExp => {
  pattern ??= linkPattern(topLevel())
  return pattern
}

const ASCII = /^[\x20-\x7e]*$/

/** An internationalised name must fit DNS once encoded: 63 characters a label. */
const fitsDns = (name: string): boolean => {
  if (ASCII.test(name)) return true
  const encoded = URL.parse(`http://${name}`)?.hostname.split('.')
  return encoded?.every((label) => label.length <= 63) ?? false
}

/** All links of a text in NFC, in order, without overlap. */
export const findLinks = (text: string): Link[] => {
  if (!text.includes('.')) return []
  return Array.from(text.matchAll(links()), (match) => ({
    start: match.index,
    end: match.index + match[0].length,
    certain: match.groups?.unknown === undefined && fitsDns(match.groups?.host ?? ''),
  }))
}
