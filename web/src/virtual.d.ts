declare module 'virtual:icons' {
  const drawings: Record<string, string>;
  export default drawings;
}
